"""The checks before a call may run: the file's policy, and the guards of plugins."""
