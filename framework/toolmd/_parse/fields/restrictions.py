"""Find the restriction that a key names, in any section."""

import re
from dataclasses import replace
from functools import lru_cache

from toolmd._parse.fields.entries import Entry, Unread
from toolmd._parse.fields.field import Field, SectionTable
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.fields.table import TABLES
from toolmd._parse.fields.values import READERS
from toolmd._parse.source.page import Page
from toolmd._parse.words.keys import Pair, fold, plain
from toolmd._parse.words.languages import english_field, english_truth
from toolmd._parse.words.slips import nearest

RESTRICTIONS: dict[str, list[tuple[SectionTable, Field]]] = {}
"""The fields that can keep a call from running, by every folded name."""
for _table in (
    *(table for table in TABLES["tool"] if not table.children),
    replace(PARAMETER, name="Parameters"),
    TABLES["skill"][0],
):
    for _key, _field in _table.by_key.items():
        if _field.restricts:
            RESTRICTIONS.setdefault(_key, []).append((_table, _field))
_SURE = 8
"""A name of this many letters is also found if it is misspelt or has words after it."""
_NAMES = tuple(key for key in RESTRICTIONS if len(key) >= _SURE)
_LONGEST = max(map(len, _NAMES))
_PARTS = re.compile(r"[\s_=→>]+")
_MOST_WORDS = 3
"""The most words of a restriction's name that begins a line."""


def names_restriction(key: str) -> bool:
    """Return whether a key is the name of a restriction, in any spelling."""
    return fold(key) in RESTRICTIONS


def starts(text: str) -> list[str]:
    """Return the first one, two and three words of a text, each folded into one."""
    words = [word for word in map(fold, _PARTS.split(text)) if word]
    return ["".join(words[:many]) for many in range(1, min(len(words), _MOST_WORDS) + 1)]


def begun(text: str) -> tuple[SectionTable, Field] | None:
    """Find the restriction of several words with whose name a line begins.

    A single word such as Rate also begins an ordinary sentence.
    """
    found = (known for start in starts(text)[1:] for known in RESTRICTIONS.get(start, ()))
    return next((known for known in found if " " in known[1].name), None)


def restriction_of(pair: Pair) -> tuple[SectionTable, Field] | None:
    """Find the restriction that `key: value` names, if the value is a possible one."""
    english = english_field(pair.key.text) if pair.marked else None
    if english is not None and (value := english_truth(pair.value.text)) is not None:
        pair = pair._replace(value=pair.value._replace(text=value))
    folded = fold(english or pair.key.text)
    if not folded:
        return None
    # Letters beyond the longest name and a slip decide nothing.
    found = RESTRICTIONS.get(_restriction_name(folded[: _LONGEST + 3]), ())
    return next((known for known in found if _reads(known[1], pair)), None)


@lru_cache(maxsize=4096)
def _restriction_name(folded: str) -> str:
    """Return the restriction's name that a folded key is, begins with or misspells."""
    if folded in RESTRICTIONS:
        return folded
    more = (name for name in _NAMES if folded.startswith(name))
    return next(more, None) or nearest(folded, _NAMES) or folded


def _reads(known: Field, pair: Pair) -> bool:
    """Return whether a field can read the value; under an alias, a sentence doesn't count."""
    key = english_field(pair.key.text) or pair.key.text
    alias = fold(key) not in {fold(known.name), fold(known.attribute)}
    text = pair.value.text
    if alias and known.kind == "expression" and not (text.startswith("`") or set(text) & _SIGNS):
        return False
    if alias and known.kind == "hosts" and "." not in text.rstrip("."):
        return False
    if known.kind == "names" and " " not in plain(pair.key.text) and not pair.marked and alias:
        return False
    nowhere = Page("", [])
    try:
        READERS[known.kind](nowhere, known, Entry(pair.key, pair.value))
    except Unread:
        return False
    return True


_SIGNS = frozenset("<>=!&|")
