"""A skill's steps."""
