"""The input of a command: the nearest project, or the named files."""
