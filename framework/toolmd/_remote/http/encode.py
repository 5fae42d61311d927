"""Encode arguments for their slots, so that no value changes the rest of a request."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from toolmd._remote.http.slots import Slot
from toolmd._types.schema import plain_numbers

_HEADER = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_COOKIE = re.compile(r"[!#-+\--:<-\[\]-~]*")


class Encoder:
    """Encodes the values of one slot; its ValueError denies the call before a request is sent."""

    def __init__(self, wanted: str, encode: Callable[[Any], Any]) -> None:
        self.wanted = wanted
        """What a value must be, in a few words."""
        self._encode = encode

    def __call__(self, value: Any) -> Any:
        """Return the encoded value; raises ValueError for one that the slot can't hold."""
        return self._encode(value)


def encoder_of(slot: Slot) -> Encoder | None:
    """Return the encoder of a slot; None where JSON holds every value."""
    return _ENCODERS.get(slot.kind)


def query_of(pairs: Mapping[str, list[str]]) -> str:
    """Return a query or a form: one `key=value` for each value."""
    return "&".join(
        f"{quote(name, safe='')}={quote(value, safe='')}"
        for name, values in pairs.items()
        for value in values
    )


def _text(value: Any) -> str:
    match value:
        case str():
            value.encode()  # A lone surrogate is a ValueError.
            return value
        case bool() | int() | float():
            return json.dumps(plain_numbers(value), allow_nan=False)
        case list():
            return ",".join(map(_text, value))
        case _:
            message = "neither text nor a number"
            raise ValueError(message)


def _part(value: Any) -> str:
    """Encode one part of a path. Servers decode `%2F` before they route, so `/` is rejected."""
    text = _text(value)
    if not text or text.strip(".") == "" or re.search(r"[/\\\x00-\x1f\x7f]", text):
        message = "not one part of a path"
        raise ValueError(message)
    return quote(text, safe="")


def _many(value: Any) -> list[str]:
    if value is None:
        return []
    return [_text(each) for each in (value if isinstance(value, list) else [value])]


def _matching(pattern: re.Pattern[str]) -> Callable[[Any], str | None]:
    def encode(value: Any) -> str | None:
        if value is None:
            return None
        text = _text(value)
        if not pattern.fullmatch(text):
            message = "has a character that is not allowed there"
            raise ValueError(message)
        return text

    return encode


_ENCODERS: Mapping[str, Encoder] = {
    "path": Encoder("one part of a path: not empty, no slash, not `.` or `..`", _part),
    "query": Encoder("text, a number, a boolean or a list of them", _many),
    "form": Encoder("text, a number, a boolean or a list of them", _many),
    "header": Encoder("visible ASCII characters on one line", _matching(_HEADER)),
    "cookie": Encoder("visible ASCII characters without space, comma, semicolon, quote and "
                      "backslash", _matching(_COOKIE)),
}  # fmt: skip
