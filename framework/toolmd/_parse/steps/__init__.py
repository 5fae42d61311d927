"""The steps of a skill."""
