"""Phrases that describe a value: types, bounds, defaults, choices."""
