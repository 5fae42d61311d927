"""Import catalogues of tools written for people: markdown prose, tables and code."""
