"""Guess something."""


def guess() -> str:
    return "rain"
