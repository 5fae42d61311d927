"""The command line: it reads arguments, and prints text and exit codes."""
