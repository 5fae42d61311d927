"""Units in the name of a field: `Timeout Seconds`, `Max KB`, `Rate Per Minute`."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from toolmd._parse.words.keys import fold, plain

_T = TypeVar("_T")

_DURATIONS = {
    unit: words.split()
    for unit, words in {
        "ms": "ms msec msecs millis millisecond milliseconds",
        "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "hr hrs hour hours",
        "d": "day days",
    }.items()
}
_SIZES = {
    "B": "bytes byte b".split(),
    "KB": "kb kib kilobytes kibibytes".split(),
    "MB": "mb mib megabytes mebibytes".split(),
    "GB": "gb gib gigabytes gibibytes".split(),
}

UNITS: Mapping[str, Mapping[str, str]] = {
    "duration": {word: unit for unit, words in _DURATIONS.items() for word in words},
    "size": {word: unit for unit, words in _SIZES.items() for word in words},
    "rate": {f"per{word}": f"/{unit}" for unit, words in _DURATIONS.items() for word in words},
}
"""The kinds of value that have units: a folded word after a field's name to the unit."""


def with_unit(read: Callable[[str], _T | None], kind: str, text: str, unit: str) -> _T | None:
    """Read a value whose key may contain a unit: the number alone, or with that same unit.

    Args:
        read: parses a value of the kind from its text; returns None if it can't.
        kind: a key of `UNITS`.
        text: the value as written.
        unit: the unit that the key contains; empty without one.

    Returns:
        The value, or None if it can't be read or states another unit than its key.
    """
    if not unit:
        return read(text)
    number = plain(text).strip()
    behind = fold(number.lstrip("0123456789.,_ "))
    if not behind:
        return read(number + unit)
    stated = {UNITS[kind].get(behind), UNITS[kind].get(f"per{behind}")}
    return read(text) if unit in stated else None
