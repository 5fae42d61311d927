"""Write values for a person so that two different values never look the same, and for a log."""

import hashlib
import re
from collections.abc import Collection, Mapping, Sized
from json import dumps, loads
from typing import Any

HIDDEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2"
    r"\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800"
    r"\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""The characters that can't be seen, as a class of a pattern; the console has the same ones.

They are Unicode's controls, formats, surrogates, separators of lines and what it calls
Default_Ignorable, and the blank of Braille.
"""
_BLANK = r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_PRINTED = re.compile(r"[\x20-\x7e]*")
_PLAIN = re.compile(r"(?![ \[{])(?!.* $)(?!.*(?:  |<U\+))(?:[^,:\n\r\"\\]|(?<=\d):(?=\d))+")
"""A text that needs no quotes: a colon stands only within a time."""
_MARKS = re.compile(r"<U\+| {2,}|[\\\"\n\r\t]")
_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONGEST = 2000
"""The most characters of a value that a question shows in full."""
_HEAD = 500
"""The characters that it shows of a longer value."""


def visible(text: str, *, blanks: bool = False) -> str:
    """Return a text with `<U+200B>` for each character that can't be seen.

    Args:
        text: The text.
        blanks: Whether blanks other than the plain one are shown so, too.
    """
    if _PRINTED.fullmatch(text):
        return text
    hidden = f"[{HIDDEN}{_BLANK if blanks else ''}]"
    return re.sub(hidden, lambda found: f"<U+{ord(found[0]):04X}>", text)


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


def call_text(
    name: str,
    arguments: Mapping[str, Any],
    lists: Collection[str] = (),
    *,
    critical: bool = False,
    more: str = "",
) -> str:
    """Return `I'd like to create reminder: title: Walk, days: 1,2. Is this correct?`.

    Args:
        name: The tool's name.
        arguments: What the person may see of the arguments.
        lists: The names of those that are always lists.
        critical: Whether the tool is critical.
        more: Sentences below the arguments.
    """
    given = arguments_text(arguments, lists)
    ending = "Please confirm these details are correct." if critical else "Is this correct?"
    what = name.replace("_", " ").replace("-", " ")
    return f"I'd like to {what}{': ' if given else ''}{given}.{more} {ending}"


def arguments_text(arguments: Mapping[str, Any], lists: Collection[str] = ()) -> str:
    """Return `title: Walk, days: 1,2`; `lists` names the arguments that are always lists."""
    return ", ".join(f"{n}: {value_text(one, is_list=n in lists)}" for n, one in arguments.items())


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not _is_json(value):
        return visible(value, blanks=True)
    return _json(value)


def _json(value: Any) -> str:
    """Return a value as JSON whose texts have nothing that can't be seen."""
    if isinstance(value, str):
        return f'"{visible(_MARKS.sub(_escape, value), blanks=True)}"'
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


def brief(value: Any, *unshown: str) -> str:
    """Return the `repr` of a named tuple, with the type and size of some fields in their place.

    A `repr` ends in logs and traces, and these fields may contain Sensitive values.

    Args:
        value: The named tuple.
        unshown: The names of the fields of which only type and size are shown.
    """
    fields = ((name, getattr(value, name)) for name in value._fields)
    shown = (f"{n}={_size(one) if n in unshown else repr(one)}" for n, one in fields)
    return f"{type(value).__name__}({', '.join(shown)})"


def _size(value: Any) -> str:
    if not value and not isinstance(value, int | float):
        return repr(value)
    size = f" of {len(value)}" if isinstance(value, Sized) else ""
    return f"<{type(value).__name__}{size}>"
