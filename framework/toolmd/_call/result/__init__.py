"""What an implementation gave becomes a Result, within its bounds."""
