"""Specs to canonical markdown."""
