"""Read the fields of a FHIR resource, which may be missing or of another type."""

import math
import re
from collections.abc import Iterator
from typing import Any, Final

from toolmd_simplescribe.codes import LOINC

Resource = dict[str, Any]
ID: Final = re.compile(r"[A-Za-z0-9.-]{1,64}", re.ASCII)
"""FHIR's syntax of an id."""
_LONG: Final = 500
"""Longest name or instruction, in code points; the rest is cut off."""


class LeftOutError(Exception):
    """A resource that no tool can return; the message has the reason for the operator."""


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
    # The range of SQLite's integers.
    return found if isinstance(found, float) or abs(found) < 2**63 else as_float


def in_digits(value: float) -> str:
    """Format a number as people write it: 120 for 120.0."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)  # noqa: PLR2004 - beyond, digits would be invented


def unit(quantity: Any) -> str | None:
    """Return a Quantity's unit: in words, or its code."""
    return words(quantity, "unit", longest=50) or words(quantity, "code", longest=50)
