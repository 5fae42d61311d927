"""Write and rewrite an author's files: starters, canonical form, fixes."""
