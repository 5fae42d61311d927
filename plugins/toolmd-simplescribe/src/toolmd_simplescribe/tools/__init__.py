"""The six tools: each definition with its Python next to it."""
