"""Calls that wait for a person's confirmation, and the decisions."""
