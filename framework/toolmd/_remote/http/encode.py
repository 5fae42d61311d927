"""Encode arguments for their slots, so that no value changes the rest of a request."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
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
    if slot.kind in {"query", "form"}:
        return Encoder(_WANTED[slot.style], partial(_pairs, slot))
    return _ENCODERS.get(slot.kind)


def pair(name: str, value: str) -> str:
    """Return one `key=value` of a query or a form."""
    return f"{quote(name, safe='')}={quote(value, safe='')}"


def _text(value: Any) -> str:
    match value:
        case str():
            value.encode()  # An unpaired surrogate is a ValueError.
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


def _pairs(slot: Slot, value: Any) -> list[str]:
    """Return each `key=value` of an argument in the query or in a form."""
    if value is None:
        return []
    if slot.style == "json":
        return [pair(slot.name, json.dumps(value, allow_nan=False))]
    if slot.style == "brackets":
        return list(_bracketed(slot.name, value))
    every = value if isinstance(value, list) else [value]
    if isinstance(value, dict) and slot.style:
        every = [one for entry in value.items() for one in entry]
    texts = [_text(one) for one in every]
    if not slot.style:
        return [pair(slot.name, text) for text in texts]
    joined = _BETWEEN[slot.style].join(quote(text, safe="") for text in texts)
    return [f"{quote(slot.name, safe='')}={joined}"] if texts else []


def _bracketed(name: str, value: Any) -> Iterator[str]:
    if not isinstance(value, dict | list):
        yield pair(name, _text(value))
        return
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        if set(str(key)) & set("[]"):
            message = "a key has a bracket"
            raise ValueError(message)
        if one is not None:
            yield from _bracketed(f"{name}[{key}]", one)


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


_BETWEEN = {"commas": ",", "spaces": "%20", "pipes": "%7C"}
_FLAT = "text, a number, a boolean or a list of them"
_WANTED = {
    "": _FLAT,
    **dict.fromkeys(_BETWEEN, f"{_FLAT}, or an object of them"),
    "brackets": "JSON whose keys have no bracket",
    "json": "JSON",
}
_ENCODERS: Mapping[str, Encoder] = {
    "path": Encoder("one part of a path: not empty, no slash, not `.` or `..`", _part),
    "header": Encoder("visible ASCII characters on one line", _matching(_HEADER)),
    "cookie": Encoder("visible ASCII characters without space, comma, semicolon, quote and "
                      "backslash", _matching(_COOKIE)),
}  # fmt: skip
