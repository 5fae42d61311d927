"""Format specs as canonical markdown."""
