"""Write values for a person so that two different values never look the same."""

import hashlib
import re
from json import dumps, loads
from typing import Any
from unicodedata import category

_RANGES = (
    *((0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065)),
    *((0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB)),
    *((0xE0000, 0xE0FFF),),
)
"""What Unicode calls Default_Ignorable beside these categories, and the blank of Braille."""
_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_PRINTED = re.compile(r"[\x20-\x7e]*")
_PLAIN = re.compile(r"(?![ \[{])(?!.* $)(?!.*(?:  |<U\+))(?:[^,:\n\r\"\\]|(?<=\d):(?=\d))+")
"""A text that needs no quotes: a colon stands only within a time."""
_MARKS = re.compile(r"<U\+| {2,}|[\\\"\n\r\t]")
_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONGEST = 2000
"""The most characters of a value that a question shows in full."""
_HEAD = 500
"""The characters that it shows of a longer value."""


def visible(text: str, and_also: str = "") -> str:
    """Return a text with `<U+200B>` for each character that can't be seen.

    Args:
        text: The text.
        and_also: A further category of Unicode whose characters are shown so.
    """
    if _PRINTED.fullmatch(text):
        return text
    return "".join(
        f"<U+{ord(sign):04X}>"
        if (kind := category(sign)) in _CATEGORIES
        or (kind == and_also and sign != " ")
        or any(first <= ord(sign) <= last for first, last in _RANGES)
        else sign
        for sign in text
    )


def value_text(value: Any, *, is_list: bool = False) -> str:
    """Return a JSON value as a question shows it; no two values have the same text.

    A text stands without quotes where nothing in it can be mistaken. A value of more than 2,000
    characters is cut, with its length and its SHA-256.

    Args:
        value: The value.
        is_list: Whether it is always a list, so that one item needs no brackets.
    """
    if isinstance(value, list) and value and not any(isinstance(v, dict | list) for v in value):
        text = ",".join(map(_scalar, value))
        text = text if is_list or len(value) > 1 else f"[{text}]"
    else:
        text = _scalar(value)
    if len(text) <= _LONGEST:
        return text
    count = f"{len(value)} values, " if isinstance(value, list) else ""
    digest = hashlib.sha256(dumps(value, sort_keys=True).encode()).hexdigest()
    return f"{text[:_HEAD]}… ({count}{len(text)} characters, SHA-256 {digest[:16]})"


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _is_json(value):
        return visible(value, "Zs")
    return _json(value)


def _json(value: Any) -> str:
    """Return a value as JSON whose texts have nothing that can't be seen."""
    if isinstance(value, str):
        return f'"{visible(_MARKS.sub(_escape, value), "Zs")}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json(key)}: {_json(one)}" for key, one in value.items()) + "}"
    return dumps(value)


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] == " ":
        return f"<U+0020 times {len(found)}>"
    return _ESCAPED.get(found, f"\\{found}")


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except ValueError:
        return False
    return True
