"""Bound what a model reads of a result, and keep the whole under a handle."""
