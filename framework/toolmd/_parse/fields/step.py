"""Find the step key that a name is, misspells or commonly replaces."""

from toolmd._parse.fields.field import UNITS
from toolmd._parse.words.keys import fold, plain
from toolmd._parse.words.slips import nearest
from toolmd._types.skill import STEP_KEYS

ACTIONS = tuple(name for name, row in STEP_KEYS.items() if row.acts)
TIMEOUT_UNITS = {f"timeout{word}": unit for word, unit in UNITS["duration"].items()}
"""The folded spellings of Timeout with a unit, such as `Timeout Seconds`, to the unit."""
KEY_BY_FOLD = {fold(key): key for key in STEP_KEYS} | dict.fromkeys(TIMEOUT_UNITS, "Timeout")
"""Each folded key to the key."""
_INSTEAD = {fold(word): name for name, row in STEP_KEYS.items() for word in row.instead.split(", ")}


def key_meant(name: str) -> str | None:
    """Return the key of a step for a name; None where the name is like none of them."""
    folded = fold(name)
    return KEY_BY_FOLD.get(folded) or _INSTEAD.get(folded) or nearest(plain(name), STEP_KEYS)
