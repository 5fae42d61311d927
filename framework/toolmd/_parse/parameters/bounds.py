"""Read bounds in words and signs: `1..300`, `at least 2 items`, `≤ 5`."""

import re

from toolmd._parse.words.keys import DASHES

_NUMBER = r"[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?"
"""A number; one with a comma is left to the field's reader, which reports it."""
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
