"""The Python behind definitions: found, loaded, and held against the markdown."""
