"""The text of a file: its bytes decoded, its lines, and what there is to say about them."""
