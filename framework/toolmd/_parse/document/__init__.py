"""The structure of a file: front matter, head, metadata, sections and examples."""
