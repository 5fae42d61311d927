"""The parser: markdown text to a typed spec and diagnostics; never runs code, never raises for an author's mistake."""
