"""Check extracted fields against the abstract: each needs a quotation that says it."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

SHARE = 0.5
"""More than this share of a field's words must be in its quotation."""
_STEM = 5
_LITTLE = frozenset("a an and as at by for from in is of on or the to was were who with".split())
_NOT = frozenset("no not neither nor never none without fails failed lack absence cannot".split())


def is_supported(value: str, quote: Any, text: str) -> bool:
    """Return whether a quotation from a text says what was extracted from it.

    The quotation must occur in the text as it is, apart from white space, case and quotation
    marks. It must have each number of the value, more than half of its words by their beginning,
    and a negation exactly where the value has one. An abbreviation may stand for words of the
    quotation with its initials.
    """
    if not isinstance(quote, str) or not (said := _plain(quote)) or said not in _plain(text):
        return False
    if not set(re.findall(r"\d+", value)) <= set(re.findall(r"\d+", said)):
        return False
    words = _words(value)
    quoted = _words(said)
    if bool(_NOT & set(words)) != bool(_NOT & set(quoted)):
        return False
    initials = "".join(word[0] for word in quoted)
    stems = {word[:_STEM] for word in quoted}
    telling = [word for word in words if word not in _LITTLE | _NOT]
    found = sum(word[:_STEM] in stems or word in initials for word in telling)
    return found > SHARE * len(telling) if telling else bool(re.search(r"\d", value))


def supported(
    fields: Mapping[str, str | None], quotes: Any, text: str
) -> tuple[dict[str, str | None], dict[str, str]]:
    """Return the fields, null where no quotation supports them, and the quotations of the rest."""
    given = quotes if isinstance(quotes, dict) else {}
    kept = {
        name: value if value is None or is_supported(value, given.get(name), text) else None
        for name, value in fields.items()
    }
    return kept, {name: given[name] for name, value in kept.items() if value is not None}


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", _plain(text).replace("n't", " not"))


def _plain(text: str) -> str:
    bare = "".join(letter for letter in text.casefold() if not _is_quotation_mark(letter))
    return " ".join(bare.split()).strip(" .…")


def _is_quotation_mark(letter: str) -> bool:
    return letter in "\"'" or unicodedata.category(letter) in ("Pi", "Pf")
