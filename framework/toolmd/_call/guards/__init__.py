"""What must hold before a call may run: the file's demands, and the judges of plugins."""
