"""Specs to what other programs read, one file a target."""
