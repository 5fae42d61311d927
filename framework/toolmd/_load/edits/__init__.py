"""Edits of a running project, compared with the last live versions."""
