"""The Python behind definitions: found, loaded, and checked against the markdown."""
