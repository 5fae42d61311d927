"""Models' replies to calls, and results back, one file a dialect."""
