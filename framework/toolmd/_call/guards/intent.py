"""Find words in the user's message: keywords, their inflections, and stated values."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from toolmd._call.guards.inflections import inflections

_WORD = re.compile(r"\w+")
MAX_MESSAGE = 256 * 1024
"""The characters of a message that are searched for the user's intent."""


def words_of(text: str) -> list[str]:
    """Split text into words, NFKC and case-folded, so that spelling variants are equal."""
    return _WORD.findall(_folded(text[:MAX_MESSAGE]))


def says_any(message: str, keywords: tuple[str, ...]) -> bool:
    """Return whether the message contains one of the keywords, whole or inflected."""
    return finder(keywords)(message)


@lru_cache(maxsize=256)
def finder(keywords: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a function that finds the keywords in a message, whole or inflected.

    The words of a longer keyword must stand side by side. Negation is not understood.
    """
    phrases = [_phrase(words) for keyword in keywords if (words := words_of(keyword))]
    if not phrases:
        return lambda _message: False
    # The keywords are words only, so the search is linear.
    search = re.compile(rf"(?:{'|'.join(phrases)})(?!\w)").search
    return lambda message: search(_folded(message)) is not None


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _phrase(words: list[str]) -> str:
    """Match words side by side: the search skips to the first letter, then checks around it."""
    first, *others = ([*inflections(word)] for word in words)
    behind = "".join(rf"\W+(?:{'|'.join(map(re.escape, forms))})" for forms in others)
    ways = []
    for letter in dict.fromkeys(form[0] for form in first):
        said = "|".join(re.escape(form[1:]) for form in first if form[0] == letter)
        at = re.escape(letter)
        ways.append(rf"{at}(?<!\w{at})(?:{said}){behind}")
    return "|".join(ways)


def unsaid(value: Any, message: str) -> bool:
    """Return whether a value has a word that the message lacks."""
    said = set(words_of(message))
    return any(word not in said for text in _texts(value) for word in words_of(text))


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
