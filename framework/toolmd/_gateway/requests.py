"""Decide where each argument goes in a request, and encode it for its place."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, cast, get_args
from urllib.parse import quote

from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.remote import Operation
from toolmd._types.schema import Parameter, plain_numbers
from toolmd._types.settings import ServiceSettings
from toolmd.config.services import OF_CONNECTION

Kind = Literal["path", "query", "header", "cookie", "body", "form", "whole body"]
Style = Literal["commas", "spaces", "pipes", "brackets", "json"]
IN_BODY = ("body", "form", "whole body")
_BY_QUERY = ("GET", "HEAD", "DELETE")
_SAID = re.compile(
    r"(?P<kind>whole body|\w+)(?:\s+(?P<name>(?!as\s)\S+))?"
    rf"(?:\s+as\s+(?P<style>{'|'.join(get_args(Style))}|[\w.-]+/(?:[\w.-]+\+)?json(?:;[\w.=+-]+)*))?",
    re.IGNORECASE,
)
_PROTECTED = OF_CONNECTION | {"authorization", "cookie", "content-type", "accept"}
"""Headers that an argument may not set."""


class Slot(NamedTuple):
    """The place of one argument, its name there, and how it is written."""

    kind: Kind
    name: str
    style: str = ""
    """A Style of an array or an object; in a body its media type, empty for `application/json`."""


class Problem(NamedTuple):
    """A parameter that does not fit the operation, and what to do."""

    parameter: str
    message: str
    help: str


def slots_of(
    operation: Operation, call_spec: ToolCallSpec, service: ServiceSettings
) -> tuple[Mapping[str, Slot], tuple[Problem, ...]]:
    """Return the slot of each parameter, and everything that does not fit."""
    slots: dict[str, Slot] = {}
    problems: list[Problem] = []
    for parameter in call_spec.parameters:
        slot = _slot(operation, parameter)
        if slot is None:
            message = f"Sent In of {parameter.name} is {parameter.shape.sent_in!r}"
            help_ = f"write one of {', '.join(get_args(Kind))}, and a name if it differs; "
            help_ += (
                f"in a query or form, then perhaps `as` and one of {', '.join(get_args(Style))}; "
                "in a body `as` and a media type of JSON"
            )
            problems.append(Problem(parameter.name, message, help_))
            continue
        slots[parameter.name] = slot
        problems += _misfits(operation, parameter, slot)
    problems += _doubled(slots, service)
    filled = {slot.name for slot in slots.values() if slot.kind == "path"}
    for name in operation.placeholders:
        if name not in filled:
            message = f"the path {operation.path} has {{{name}}}, and no parameter fills it"
            help_ = f"add a required parameter `{name}`, or one with `Sent In: path {name}`"
            problems.append(Problem("", message, help_))
    return slots, tuple(problems)


def _slot(operation: Operation, parameter: Parameter) -> Slot | None:
    """Return the slot of a parameter; None where Sent In can't be read."""
    said = (parameter.shape.sent_in or "").strip().strip("`")
    if not said:
        if parameter.name in operation.placeholders:
            return Slot("path", parameter.name)
        return Slot("query" if operation.method in _BY_QUERY else "body", parameter.name)
    match = _SAID.fullmatch(said)
    kind, style = (match["kind"].lower(), (match["style"] or "").lower()) if match else ("", "")
    if match is None or kind not in get_args(Kind):
        return None
    is_whole = kind == "whole body"
    is_type, in_json = "/" in style, kind in {"body", "whole body"}
    if (is_whole and match["name"]) or (
        style and (is_type, kind in {"query", "form"}) != (in_json, not in_json)
    ):
        return None
    name = "" if is_whole else match["name"] or parameter.name
    return Slot(cast("Kind", kind), name, style)


def _misfits(operation: Operation, parameter: Parameter, slot: Slot) -> Iterator[Problem]:
    name, shape = parameter.name, parameter.shape
    if slot.kind == "path":
        if slot.name not in operation.placeholders:
            there = ", ".join(f"{{{one}}}" for one in operation.placeholders) or "no parameters"
            message = f"{name} is sent in the path as {{{slot.name}}}, and the path has {there}"
            yield Problem(name, message, "correct Sent In, or the path of Implemented By")
        if not parameter.required:
            message = f"{name} is optional, and the path needs it"
            yield Problem(name, message, "write `**Required**: true`: no Default is sent")
    if slot.kind in IN_BODY and operation.method in {"GET", "HEAD"}:
        message = f"{name} is sent in the body, and {operation.method} has none"
        yield Problem(name, message, "write `**Sent In**: query`, or another method")
    if slot.kind == "header" and slot.name.lower() in _PROTECTED:
        message = f"{name} would set the header {slot.name}, which no argument may set"
        yield Problem(name, message, "put credentials and fixed headers into [services.NAME]")
    flat = shape.items if shape.items is not None else shape
    is_nested = set(flat.types) == {"object"} and slot.style not in {"brackets", "json"}
    if slot.style and flat is shape:
        is_nested = False
    if slot.kind not in {"body", "whole body"} and is_nested:
        message = f"{name} is an object, which can't be sent in the {slot.kind}"
        help_ = "make each field a parameter, or write for example `Sent In: query as brackets`"
        yield Problem(name, message, help_)


def _doubled(slots: Mapping[str, Slot], service: ServiceSettings) -> Iterator[Problem]:
    """Yield the parameters that take the place of another one, or of the service's table."""
    used = {Slot(one.kind, one.name) for one in service.auth if one.kind in {"query", "cookie"}}
    headers = [*service.headers, *(one.name for one in service.auth if one.kind == "header")]
    used |= {Slot("header", name.lower()) for name in headers}
    for name, slot in slots.items():
        place = Slot(slot.kind, slot.name.lower() if slot.kind == "header" else slot.name)
        if place in used:
            message = f"{name} is sent in the {slot.kind} as {slot.name}, which is set already"
            yield Problem(name, message, "give it another name in Sent In, or remove one of them")
        used.add(place)
    bodies = {slot.kind for slot in slots.values() if slot.kind in IN_BODY}
    wholes = [name for name, slot in slots.items() if slot.kind == "whole body"]
    if len(bodies) > 1 or len(wholes) > 1:
        message = f"the body is sent in several ways: {', '.join(sorted(bodies))}"
        yield Problem(wholes[0] if wholes else "", message, "keep one of them")
    types = {slot.style for slot in slots.values() if slot.kind == "body"}
    if len(types) > 1:
        message = f"the body has several types: {', '.join(sorted(types - {''}))}"
        yield Problem("", message, "write the same type after `as` in each Sent In of the body")


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
