"""Run the implementation under its deadline, with its Context."""
