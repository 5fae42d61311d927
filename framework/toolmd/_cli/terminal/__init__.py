"""The terminal: what is typed, what is printed, and what an end means."""
