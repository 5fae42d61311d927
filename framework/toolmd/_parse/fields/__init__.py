"""Fields: the one table of them, and entries held against it."""
