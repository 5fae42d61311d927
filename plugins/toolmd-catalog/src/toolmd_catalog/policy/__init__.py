"""What a catalogue demands of calls, sentence by sentence."""
