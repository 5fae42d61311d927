"""Runs: stored, executed, and resumed by the next process where one ends."""
