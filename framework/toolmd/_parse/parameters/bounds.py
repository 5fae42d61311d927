"""Read bounds next to a parameter's name: `1..300`, `at most 5`, `1..40 characters`."""

import re

from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.words.keys import DASHES, fold, nearest
from toolmd._parse.words.limiting import limiting

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_UNITS = {
    "Length": "characters character chars char letters letter symbols",
    "Items": "items item entries entry elements element values",
}
_UNIT = r"(?: (?P<unit>[a-z]+))?"
_SIGN = rf"(?:\.\.\.?|…|[{''.join(DASHES)}]| to | and )"
_BETWEEN = re.compile(
    rf"(?:between |from )?(?P<low>{_NUMBER}) ?{_SIGN} ?(?P<high>{_NUMBER}){_UNIT}"
)
_OPEN_LOW = re.compile(
    rf"(?:\.\. ?|<= ?|≤ ?|at most |up to |no more than |not more than |max(?:imum)? )"
    rf"(?P<high>{_NUMBER}){_UNIT}"
)
_OPEN_HIGH = re.compile(
    rf"(?:>= ?|≥ ?|at least |no less than |not less than |min(?:imum)? )(?P<low>{_NUMBER}){_UNIT}"
    rf"|(?P<first>{_NUMBER}) ?(?:\.\.|\+| or more)"
)
_BOUNDED = re.compile(r"\.\.|…|[<>≤≥]|\b(?:between|up to|at (?:most|least)|more than|less than)\b")
_MOST_WORDS = 3
_NEAR = 5
"""The fewest letters of a key that a slip may have changed."""


def read_bounds(text: str) -> list[tuple[str, str]] | None:
    """Return the fields that a text of bounds stands for, by name; None for any other text."""
    text = " ".join(text.lower().split())
    found = next(
        (m for one in (_BETWEEN, _OPEN_LOW, _OPEN_HIGH) if (m := one.fullmatch(text))), None
    )
    if found is None:
        return None
    said = found.groupdict()
    low, high = said.get("low") or said.get("first"), said.get("high")
    names = ("Minimum", "Maximum")
    if unit := said.get("unit"):
        kind = next((kind for kind, words in _UNITS.items() if unit in words.split()), None)
        if kind is None:
            return None
        names = (f"Min {kind}", f"Max {kind}")
    return [(name, value) for name, value in zip(names, (low, high), strict=True) if value]


def sounds_restrictive(text: str) -> bool:
    """Return whether words next to a type look like a field or a bound that was not read."""
    words = text.lower().replace(":", " ").replace("=", " ").split()
    if len(words) > 1:
        key = fold(words[0])
        if len(key) >= _NEAR and key.isalpha() and nearest(key, PARAMETER.by_key):
            return True
    if not re.search(r"\d", text):
        return False
    if _BOUNDED.search(text.lower()):
        return True
    starts = (" ".join(words[:many]) for many in range(1, min(_MOST_WORDS, len(words) - 1) + 1))
    return any(limiting(start, of_value=True) is not None for start in starts)
