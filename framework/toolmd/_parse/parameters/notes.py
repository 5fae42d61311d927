"""Report words next to a type that no field reads: a misspelt flag, or a bound in other words."""

import re
from typing import Any

from toolmd._parse.fields.parameter import PARAMETER, UNSUPPORTED
from toolmd._parse.parameters.details import FLAGS, meant_type
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words.keys import fold
from toolmd._parse.words.limiting import limiting
from toolmd._parse.words.scalars import number
from toolmd._parse.words.slips import nearest
from toolmd._types.code import Code

_BOUNDED = re.compile(
    r"\.\.|…|[<>≤≥]|^[(\[].*[)\]]$|\b(?:between|through|up to|exactly|at (?:most|least)|more than|"
    r"less than|or (?:less|fewer|more|below|above))\b"
)
_MOST_WORDS = 3
_NEAR = 5
"""The fewest letters of a key that a slip may have changed."""


def report_misspelt(page: Page, where: str, note: Mark, said: dict[str, Any]) -> bool:
    """Report a misspelt type or flag next to a name; return whether `note` is one.

    A misspelt type is recorded as any type in `said`, so that no second error follows from it.
    """
    word = note.text.strip("`*_ ")
    near, code, what = nearest(word, FLAGS), Code.UNKNOWN_FIELD, "unknown field"
    if "types" not in said and (kind := meant_type(word)):
        near, code, what = kind, Code.UNKNOWN_TYPE, "unknown type"
        said["types"] = ()
    if near is None:
        return False
    mark = note.at(max(note.text.find(word), 0), len(word))
    page.error(
        code, mark, f"{what} '{word}' for {where}", f"did you mean '{near}'?", replace(mark, near)
    )
    return True


def sounds_restrictive(text: str) -> bool:
    """Return whether words next to a type look like a field or a bound that was not read."""
    if (meant := limiting(text, of_value=True)) is not None and meant.field == "Sensitive":
        return True
    words = text.lower().replace(":", " ").replace("=", " ").split()
    if len(words) > 1:
        key = fold(words[0])
        if len(key) >= _NEAR and key.isalpha() and nearest(key, PARAMETER.by_key):
            return True
    starts = [" ".join(words[:many]) for many in range(1, min(_MOST_WORDS, len(words)) + 1)]
    if not re.search(r"\d", text):
        sets = ":" in text or "=" in text
        return _requires(words) or (sets and any(fold(start) in UNSUPPORTED for start in starts))
    if _BOUNDED.search(text.lower()) or number(text) is not None:
        return True
    return any(map(_restricts, starts if len(words) > 1 else ()))


def _requires(words: list[str]) -> bool:
    """Return whether a note is the word for Required or Sensitive in another language."""
    known = PARAMETER.translated(" ".join(words))
    return known is not None and (known.restricts or known.attribute in {"required", "optional"})


def _restricts(start: str) -> bool:
    """Return whether the words before a number restrict a value, in any language."""
    known = PARAMETER.translated(start) or limiting(start, of_value=True)
    return known is not None or fold(start) in UNSUPPORTED
