"""Parameters, and every other value with a type."""
