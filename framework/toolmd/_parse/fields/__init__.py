"""The fields of definitions: the table of them, and reading entries by it."""
