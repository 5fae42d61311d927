"""Build the Result of an implementation's value, within its bounds."""
