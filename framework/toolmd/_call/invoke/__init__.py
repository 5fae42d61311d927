"""The implementation is started, under its deadline, with its Context."""
