"""The policy of a catalogue, sentence by sentence."""
