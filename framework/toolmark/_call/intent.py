"""Look for words in what the user said: keywords, their inflections, and stated values."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"\w+")
_VOWELS = "aeiou"
MAX_MESSAGE = 256 * 1024
"""Characters of a message that are looked at."""


def words_of(text: str) -> list[str]:
    """Cut text into words, NFKC and case-folded, so that ways of writing do not matter."""
    folded = unicodedata.normalize("NFKC", text[:MAX_MESSAGE]).casefold()
    return _WORD.findall(unicodedata.normalize("NFKC", folded))


def says_any(message: str, keywords: Iterable[str]) -> bool:
    """Tell whether the message holds one of the keywords, as whole words or inflected.

    A keyword of several words must stand as they are, side by side. Negation is not understood.
    """
    said = words_of(message)
    return any(_stands(said, phrase) for keyword in keywords if (phrase := _phrase(keyword)))


def unsaid(value: Any, message: str) -> bool:
    """Tell whether a value has a word that the message lacks."""
    said = set(words_of(message))
    return any(word not in said for text in _texts(value) for word in words_of(text))


@lru_cache(maxsize=1024)
def _phrase(keyword: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(_inflections(word)) for word in words_of(keyword))


def _stands(said: list[str], phrase: tuple[frozenset[str], ...]) -> bool:
    starts = range(len(said) - len(phrase) + 1)
    return any(all(said[start + i] in forms for i, forms in enumerate(phrase)) for start in starts)


def _inflections(word: str) -> Iterator[str]:
    """Give the regular English forms of a word."""
    yield word
    if len(word) < 3 or not word.isalpha():  # noqa: PLR2004 - "go" and "at" would become others
        return
    yield from (word + ending for ending in ("s", "es", "ed", "ing", "er", "ers"))
    if word.endswith("e"):
        yield from (word[:-1] + ending for ending in ("ed", "ing", "er", "ers"))
    elif word.endswith("y") and word[-2] not in _VOWELS:
        yield from (word[:-1] + ending for ending in ("ies", "ied", "ier"))
    elif word[-1] not in _VOWELS + "wxy" and word[-2] in _VOWELS and word[-3] not in _VOWELS:
        yield from (word + word[-1] + ending for ending in ("ed", "ing", "er", "ers"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is not None:
        yield str(value)
