"""Calls held until a person decides, and the decisions."""
