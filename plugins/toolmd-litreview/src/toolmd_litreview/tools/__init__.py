"""The definitions, each with its Python beside it."""
