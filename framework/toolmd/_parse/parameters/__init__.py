"""Parameters, and whatever else has a type."""
