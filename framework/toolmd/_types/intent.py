"""A keyword of a user's intent, with its language where the file names one."""

import re

_LABEL = re.compile(r"([a-z]{2,3}): ")


def keyword_of(language: str, word: str) -> str:
    """Return a keyword as a spec has it: `word`, or `de: word`."""
    return f"{language}: {word}" if language else word


def language_and_word(keyword: str) -> tuple[str, str]:
    """Return the code of a keyword's language, which may be empty, and its word."""
    label = _LABEL.match(keyword)
    return (label[1], keyword[label.end() :]) if label else ("", keyword)
