"""Doors that other protocols come in by, a package each."""
