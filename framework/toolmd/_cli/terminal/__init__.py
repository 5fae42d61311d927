"""The terminal: input, output and exit codes."""
