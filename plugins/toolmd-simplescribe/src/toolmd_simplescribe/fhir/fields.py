"""Read the fields of a FHIR resource, which may be missing or of another type."""

import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from toolmd_simplescribe.moments import Moment, moment

Resource = dict[str, Any]
LOINC: Final = "http://loinc.org"
ID: Final = re.compile(r"[A-Za-z0-9.-]{1,64}", re.ASCII)
"""FHIR's syntax of an id."""
_LONG: Final = 500
"""Longest name or instruction, in code points; the rest is cut off."""


class Row(NamedTuple):
    """One item of a tool, without its source."""

    kind: str
    """The tool that returns it, such as `labs`."""
    key: str
    """What a parameter selects it by: a code, a type, a status."""
    at: int | None
    """The first instant of its date, in microseconds since 1970 (UTC)."""
    item: Resource
    """The item of the response; a field without a value is None."""
    text: str = ""
    """The text of a note, for the index only."""


class LeftOutError(Exception):
    """What no tool can return; the message has the reason for the reader."""

    def __init__(self, reason: str, kind: str = "", name: str | None = None) -> None:
        """Name the kind of items that lacks it, and what it is, in words."""
        super().__init__(reason)
        self.kind, self.name = kind, name


def at(value: Any, *path: str | int) -> Any:
    """Return the value at the end of a path, or None where the path ends early."""
    for step in path:
        match value, step:
            case dict(), str():
                value = value.get(step)
            case list(), int() if -len(value) <= step < len(value):
                value = value[step]
            case _:
                return None
    return value


def objects(value: Any, *path: str | int) -> list[Resource]:
    """Return the objects of the list at the end of a path, without items of other types."""
    found = at(value, *path)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def words(value: Any, *path: str | int, longest: int = _LONG) -> str | None:
    """Return the text at the end of a path on one line, cut to a length; None without one."""
    found = at(value, *path)
    if not isinstance(found, str):
        return None
    # Neither SQLite nor JSON accepts an unpaired surrogate.
    text = " ".join(found[: longest * 4].encode("utf-8", "replace").decode().split())
    if not text.isprintable():
        text = "".join(letter for letter in text if letter.isprintable())
    return (text if len(text) <= longest else f"{text[: longest - 1]}…") or None


def named(value: Any, *path: str | int) -> str | None:
    """Return a CodeableConcept in words: its text, or a coding's display, or a code."""
    concept = at(value, *path)
    codings = objects(concept, "coding")
    displays = [words(coding, "display") for coding in codings]
    codes = [words(coding, "code") for coding in codings]
    found = [words(concept, "text"), *displays, *codes]
    return next((one for one in found if one), None)


def codes(value: Any, *path: str | int) -> list[str]:
    """Return the codes of a CodeableConcept, of any system."""
    return [code for one in objects(at(value, *path), "coding") if (code := words(one, "code"))]


def loinc(value: Any) -> Iterator[tuple[str, str | None]]:
    """Return the LOINC codes of an object with a `code`, each with its display."""
    for coding in objects(value, "code", "coding"):
        code = words(coding, "code")
        if code and at(coding, "system") == LOINC:
            yield code, words(coding, "display") or words(value, "code", "text")


def number(value: Any, *path: str | int) -> int | float | None:
    """Return the finite number at the end of a path; None without one."""
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        as_float = float(found)
    except OverflowError:
        return None
    if not math.isfinite(as_float):
        return None
    if isinstance(found, float):
        # More decimals are noise of a computer, not of an instrument.
        return round(found, 4) if abs(found) >= 1 else float(f"{found:.4g}")
    # The range of SQLite's integers.
    return found if abs(found) < 2**63 else as_float


def in_digits(value: float) -> str:
    """Format a number as people write it: 120 for 120.0."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)  # noqa: PLR2004 - beyond, digits would be invented


def unit(quantity: Any) -> str | None:
    """Return a Quantity's unit: in words, or its code."""
    return words(quantity, "unit", longest=50) or words(quantity, "code", longest=50)


def when(resource: Resource, *paths: tuple[str, ...]) -> Moment | None:
    """Return the first date of these paths; None without one, LeftOutError if it can't be read."""
    for path in paths:
        if (text := words(resource, *path)) is not None:
            try:
                return moment(text)
            except ValueError as error:
                raise LeftOutError(f"its {path[0]} can't be read: {error}") from None
    return None


def dated(resource: Resource, *paths: tuple[str, ...]) -> Moment:
    """Return the first date of these paths; raises LeftOutError without one."""
    if (date := when(resource, *paths)) is None:
        raise LeftOutError("it has no date")
    return date


def in_words(quantity: Any) -> str | None:
    """Return a Quantity such as `500 mg`; None without a number."""
    value = number(quantity, "value")
    return None if value is None else f"{in_digits(value)} {unit(quantity) or ''}".strip()
