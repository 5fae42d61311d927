"""Definitions: found, read through the cache, and the skills among them checked."""
