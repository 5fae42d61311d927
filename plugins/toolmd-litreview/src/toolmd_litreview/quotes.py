"""Check extracted fields against the abstract: each needs its words, quoted from the text."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

SHARE = 0.5
"""More than this share of a field's longer words must be in the text."""
_SHORTEST = 4
_STEM = 5


def is_supported(value: str, quote: Any, text: str) -> bool:
    """Return whether a text says what was extracted from it.

    The quote must occur in the text as it is, apart from white space, case and quotation marks.
    So must each number of the value, and more than half of its longer words by their beginning.
    """
    plain = _plain(text)
    if not isinstance(quote, str) or not _plain(quote) or _plain(quote) not in plain:
        return False
    numbers = set(re.findall(r"\d+", plain))
    if not set(re.findall(r"\d+", value)) <= numbers:
        return False
    words = [word for word in re.findall(r"[^\W\d_]+", _plain(value)) if len(word) >= _SHORTEST]
    stems = {word[:_STEM] for word in re.findall(r"[^\W\d_]+", plain)}
    found = sum(word[:_STEM] in stems for word in words)
    return not words or found > SHARE * len(words)


def supported(fields: Mapping[str, str | None], quotes: Any, text: str) -> dict[str, str | None]:
    """Return the fields, null where the text does not support them."""
    given = quotes if isinstance(quotes, dict) else {}
    return {
        name: value if value is None or is_supported(value, given.get(name), text) else None
        for name, value in fields.items()
    }


def _plain(text: str) -> str:
    bare = "".join(letter for letter in text.casefold() if not _is_quotation_mark(letter))
    return " ".join(bare.split()).strip(" .…")


def _is_quotation_mark(letter: str) -> bool:
    return letter in "\"'" or unicodedata.category(letter) in ("Pi", "Pf")
