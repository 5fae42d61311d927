"""Misspelt names: find the known name that a word misspells by one slip or two."""

from collections.abc import Iterable
from functools import lru_cache

from toolmd._parse.words.keys import fold

_SHORT = 4
_MOST_CHANGED = 2
_MOST_BITS = 2 * _MOST_CHANGED


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the first known name that `word` misspells, or None."""
    folded = fold(word)
    size, letters = len(folded), _letters(folded)
    for name, spelt, length, others in _spelt(tuple(known)):
        # Skip most names cheaply: of two changed letters, each alters at most two bits.
        near = abs(size - length) <= _MOST_CHANGED and (letters ^ others).bit_count() <= _MOST_BITS
        if near and is_slip(folded, spelt):
            return name
    return None


@lru_cache(maxsize=256)
def _spelt(known: tuple[str, ...]) -> tuple[tuple[str, str, int, int], ...]:
    """Return each name with its folded form, that form's length and its letters."""
    return tuple((name, fold(name), len(fold(name)), _letters(fold(name))) for name in known)


def _letters(word: str) -> int:
    """Return a bit for each letter of a word; letters may share one."""
    found = 0
    for letter in word:
        found |= 1 << ord(letter) % 64
    return found


def is_slip(word: str, name: str) -> bool:
    """Return whether two folded names differ by one slip, or by two in long names."""
    if word == name or not word:
        return False
    if len(name) <= _SHORT and len(word) == len(name) and sorted(word) != sorted(name):
        # `time` does not misspell `type`: in short names a changed letter makes another word.
        return False
    allowed = 1 if len(name) <= _SHORT + 1 else _MOST_CHANGED
    return distance(word, name, allowed) <= allowed


def distance(a: str, b: str, most: int) -> int:
    """Count the letters to add, drop, change or swap from `a` to `b`, up to `most` + 1."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    older: list[int] = []
    old = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            cost = min(old[j] + 1, new[j - 1] + 1, old[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            new.append(cost)
        if min(new) > most and min(old) > most:
            return most + 1
        older, old = old, new
    return old[-1]
