"""The layout of a catalogue: its tools, the spans of each, their labels and tables."""
