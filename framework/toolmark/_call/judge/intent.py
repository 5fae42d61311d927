"""Look for words in what the user said: keywords, their inflections, and stated values."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

_WORD = re.compile(r"\w+")
_VOWELS = "aeiou"
MAX_MESSAGE = 256 * 1024
"""Characters of a message in which the user's intent is looked for."""


def words_of(text: str) -> list[str]:
    """Cut text into words, NFKC and case-folded, so that ways of writing do not matter."""
    return _WORD.findall(_folded(text[:MAX_MESSAGE]))


def says_any(message: str, keywords: tuple[str, ...]) -> bool:
    """Tell whether the message holds one of the keywords, wherever, as whole words or inflected."""
    return finder(keywords)(message)


@lru_cache(maxsize=256)
def finder(keywords: tuple[str, ...]) -> Callable[[str], bool]:
    """Make what tells whether a message holds one of the keywords, whole or inflected.

    A keyword of several words must stand as they are, side by side. Negation is not understood.
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
    """Match words side by side: a search skips to the first letter, then looks what is around."""
    forms = [list(_inflections(word)) for word in words]
    first = re.escape(words[0][0])
    forms[0] = [form[1:] for form in forms[0]]
    phrase = r"\W+".join(f"(?:{'|'.join(map(re.escape, each))})" for each in forms)
    return rf"{first}(?<!\w{first}){phrase}"


def unsaid(value: Any, message: str) -> bool:
    """Tell whether a value has a word that the message lacks."""
    said = set(words_of(message))
    return any(word not in said for text in _texts(value) for word in words_of(text))


def _inflections(word: str) -> Iterator[str]:
    """Give the regular English forms of a word."""
    yield word
    if len(word) < 3 or not word.isalpha():  # noqa: PLR2004 - "go" and "at" would become others
        return
    yield word + "s"
    if word.endswith("e"):
        yield from (word + "d", word + "r", word + "rs", word[:-1] + "ing")
        return
    yield from (word + ending for ending in ("es", "ed", "ing", "er", "ers"))
    if word.endswith("y") and word[-2] not in _VOWELS:
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
