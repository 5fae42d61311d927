"""A file as sections: front matter, head, metadata, examples."""
