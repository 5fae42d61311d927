"""Run a whole review with the tools, and report it in the terminal and as a page."""
