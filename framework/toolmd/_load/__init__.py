"""The binder: definitions and their Python to one immutable registry."""
