"""Misspelt names: find the known name that a word misspells by one slip or two."""

from collections.abc import Iterable

from toolmd._parse.words.keys import fold

_SHORT, _LONG = 4, 9
"""In a short name a changed letter makes another word; a long one may have two slips."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that `word` misspells by the fewest slips, or None."""
    folded = fold(word)
    slips = [name for name in known if is_slip(folded, fold(name))]
    return min(slips, key=lambda name: distance(folded, fold(name)), default=None)


def is_slip(word: str, name: str) -> bool:
    """Return whether two folded names differ by one slip, or by two in long names."""
    if word == name or not word or abs(len(word) - len(name)) > 2:  # noqa: PLR2004
        return False
    if len(name) <= _SHORT and len(word) == len(name) and sorted(word) != sorted(name):
        return False  # `time` does not misspell `type`
    return distance(word, name) <= (1 if len(name) < _LONG else 2)


def distance(a: str, b: str) -> int:
    """Count the letters to add, drop, change or swap from `a` to `b`."""
    older: list[int] = []
    old = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            cost = min(old[j] + 1, new[j - 1] + 1, old[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            new.append(cost)
        older, old = old, new
    return old[-1]
