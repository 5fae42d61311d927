"""What a plugin may provide: the hookspecs and the markers."""
