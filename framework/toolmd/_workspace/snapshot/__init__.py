"""A live snapshot: its dispatcher, its dialects, its diagnostics."""
