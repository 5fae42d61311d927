"""Catalogues of tools written for people: markdown prose, tables and code, read into drafts."""
