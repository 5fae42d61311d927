"""Read a value that stands alone on its line, such as a number; suggest what it may mean."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from toolmd._parse.fields.entries import Entry, Unread
from toolmd._parse.fields.table import UNITS
from toolmd._parse.source.page import Page
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import fold, plain
from toolmd._types.code import Code
from toolmd._types.field import Row

ValueReader = Callable[[Page, Row, Entry], Any]
_T = TypeVar("_T")

_NUMBER = re.compile(r"(?P<number>[-+]?[0-9][0-9.,]*)\s*(?P<unit>[a-zA-Zµμ°%][\w/%]{0,5})?")
_LEADING = re.compile(r"[0-9][0-9.,]*")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+|[-+]?[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2}\.[0-9]{3}")
_EXACT = 2**53
"""Whole numbers up to this one are equal as integer and as decimal number."""


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


def alone(read: Callable[[str], _T | None], remedy: str) -> ValueReader:
    """Build a reader for a value alone on its line; `read` returns None if it can't read it."""

    def reader(page: Page, known: Row, entry: Entry) -> _T:
        del page
        value = None if entry.blocks else with_unit(read, known.kind, entry.text, known.unit)
        if value is None:
            raise Unread(
                f"the key has the unit {known.unit}: write only a number"
                if known.unit
                else _better(read, entry.text) or remedy
            )
        return value

    return reader


def _better(read: Callable[[str], _T | None], text: str) -> str:
    """Suggest the value that `1,5s` means, or a value above 0; empty for any other text."""
    leading = _LEADING.match(plain(text))
    if leading is None:
        return ""
    if scalars.number(leading[0]) == 0:
        return "write a value above 0"
    meant = pointed(leading[0])
    value = f"{meant}{plain(text)[leading.end() :]}"
    return f"write `{value}`" if meant and read(value) is not None else ""


whole = alone(scalars.whole, "write a whole number, 0 or above")


def number(page: Page, known: Row, entry: Entry) -> int | float:
    """Read a number; a whole one such as `1.0` becomes an integer."""
    value = None if entry.blocks else scalars.number(entry.text)
    if value is None:
        raise Unread(_meant(known, entry.text) or "write only a number, such as `0` or `2.5`")
    if known.fits and _THOUSANDS.fullmatch(text := plain(entry.text)):
        other = f"{value:g}" if value == int(value) else f"{text}0"
        page.hint(
            Code.AMBIGUOUS_NUMBER,
            entry.value,
            f"'{known.name}' is read as {value:g}",
            f"write `{text.replace('.', '')}` if it means thousands, or else `{other}`",
        )
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT
    return int(value) if is_whole else value


def _meant(known: Row, text: str) -> str:
    """Suggest the number that `0,5`, `1,000` or `100 mg` means; empty for any other text."""
    found = _NUMBER.fullmatch(plain(text))
    if found is None or (found["unit"] and not known.fits):
        return ""
    meant = pointed(found["number"])
    if not meant:
        return ""
    return f"write `{meant}`" + (f", and `- **Unit**: {found['unit']}`" if found["unit"] else "")


def pointed(written: str) -> str:
    """Return the number that `0,5`, `1,000` or `1.000,5` means; empty if it means none."""
    if _GROUPED.fullmatch(written):
        meant = written.replace(",", "").replace(".", "")
    elif written.rfind(",") > written.rfind("."):
        meant = written.replace(".", "").replace(",", ".")
    else:
        meant = written.replace(",", "")
    return "" if scalars.number(meant) is None else meant


def count(page: Page, known: Row, entry: Entry) -> int:
    """Read a whole number above 0."""
    value: int = whole(page, known, entry)
    if value == 0:
        raise Unread("write a whole number, 1 or above")
    return value


def share(page: Page, known: Row, entry: Entry) -> float:
    """Read a number from 0 to 1."""
    percent = plain(entry.text).removesuffix("%").strip()
    if percent != plain(entry.text) and (hundreds := scalars.number(percent)) is not None:
        raise Unread(f"write a number from 0 to 1, such as `{hundreds / 100:g}`")
    value = number(page, known, entry)
    if not 0 <= value <= 1:
        raise Unread("write a number from 0 to 1, such as `0.8`")
    return float(value)
