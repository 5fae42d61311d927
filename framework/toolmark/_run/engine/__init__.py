"""Where a run's steps are executed and remembered."""
