"""The text of a file: its decoded bytes, its lines, and the diagnostics about them."""
