"""Convert specs for other programs, one file per target."""
