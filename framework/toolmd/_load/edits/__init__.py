"""Edits of a running project: held to what was live before."""
