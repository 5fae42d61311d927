"""Where things stand in a catalogue: its tools, the stretches of each, their labels and tables."""
