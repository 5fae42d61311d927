"""Expressions: CEL compiled, checked against types, and evaluated within bounds."""
