"""Read one call from JSON: closed keys, a tool's name, its arguments, an id, a confidence."""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolmd._types.call import Call
from toolmd._validation.strict_json import JsonError
from toolmd._validation.strict_json import decode as decode_json
from toolmd.errors import MalformedReplyError

MAX_BYTES = 256 * 1024
"""Size limit of a reply as UTF-8, in bytes (the `size` check)."""
MAX_CALLS = 32
MAX_NAME = 128
"""Longest name of a tool, in characters."""
OURS = "toolmd-"
"""How the ids begin that Toolmd gives to calls without one."""
CONFIDENCE = "_confidence"
"""The argument for the model's confidence, in dialects without a key for it."""


@dataclass(frozen=True, slots=True)
class Keys:
    """A dialect's keys for the parts of a call; no others are allowed."""

    tool: str
    arguments: str
    id: str | None = None
    confidence: str | None = None

    @property
    def names(self) -> list[str]:
        """Return the keys in the order in which a call is written."""
        return [k for k in (self.id, self.tool, self.arguments, self.confidence) if k]


def read_call(value: Any, keys: Keys) -> Call:
    """Return the call in a text dialect's JSON object."""
    if not isinstance(value, dict):
        raise MalformedReplyError(f"a call is an object with the keys {', '.join(keys.names)}")
    names = keys.names
    for key in value:
        if key not in names:
            shown = json.dumps(key[:64])
            raise MalformedReplyError(f"a call has no key {shown}; write {', '.join(names)}")
    arguments = read_arguments(value.get(keys.arguments), keys.arguments)
    confidence = None
    if keys.confidence is None:
        arguments, confidence = take_confidence(arguments)
    elif keys.confidence in value:
        confidence = read_confidence(value[keys.confidence], keys.confidence)
    call_id = read_id(value.get(keys.id)) if keys.id else None
    tool = read_name(value.get(keys.tool), keys.tool)
    return Call(tool, arguments, call_id, confidence)


def read_parts(name: Any, arguments: Mapping[str, Any], call_id: Any) -> Call:
    """Return the call in a provider's own form; its dialect has already read the arguments."""
    arguments, confidence = take_confidence(arguments)
    return Call(read_name(name, "name"), arguments, read_id(call_id), confidence)


def read_name(value: Any, key: str) -> str:
    """Return a tool's name as the model wrote it; the lookup checks later that it exists."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
        raise MalformedReplyError(f"{key} must be the tool's name, a text")
    return value


def read_id(value: Any) -> str | None:
    """Return a call's id, which is any text; None for a missing or an empty one."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return (str(value) if isinstance(value, str) or is_number else "") or None


def give_ids(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Return the calls with an id each: a missing or a repeated id is replaced by one of ours.

    The same id, name and arguments twice is one call, which a stream doubled.
    """
    made: list[Call] = []
    seen: dict[str | None, list[tuple[str, str]]] = {None: []}
    for call in calls:
        content = (call.tool, json.dumps(call.arguments, sort_keys=True))
        same = seen.setdefault(call.id, [])
        if call.id is not None and content in same:
            continue
        made.append(call._replace(id=new_id()) if call.id is None or same else call)
        same.append(content)
    return tuple(made)


def new_id() -> str:
    """Return an id for a call to which the model gave none."""
    return f"{OURS}{secrets.token_hex(8)}"


def read_arguments(value: Any, key: str) -> Mapping[str, Any]:
    """Return the arguments, an object; null and an empty text stand for none."""
    if value is None or (isinstance(value, str) and value.strip() in {"", "null"}):
        return {}
    if not isinstance(value, dict):
        raise MalformedReplyError(f"{key} must be an object, {{}} where there are none")
    return value


def read_confidence(value: Any, key: str) -> float:
    """Return the model's confidence; true is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MalformedReplyError(f"{key} must be a number from 0 to 1")
    return float(value)


def take_confidence(arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], float | None]:
    """Remove `_confidence` from the arguments (behaviour.md: native calls have none)."""
    if CONFIDENCE not in arguments:
        return arguments, None
    rest = {k: v for k, v in arguments.items() if k != CONFIDENCE}
    return rest, read_confidence(arguments[CONFIDENCE], CONFIDENCE)


SPACE = " \t\r\n"


def decode(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at `start`, and its end.

    Raises:
        MalformedReplyError: The value is not strict JSON; see `strict_json.decode`.
    """
    try:
        return decode_json(text, start)
    except JsonError as error:
        raise MalformedReplyError(f"not JSON: {error}") from None


def decode_whole(text: str) -> Any:
    """Return the JSON value of the whole text, with nothing but white space around it."""
    value, end = decode(text, skip(text, 0))
    if (rest := skip(text, end)) < len(text):
        raise MalformedReplyError(f"text after the JSON, at character {rest}")
    return value


def skip(text: str, at: int, signs: str = SPACE) -> int:
    """Return the first place from `at` on with none of the characters."""
    # The windows grow: a run may be 256 KiB long, and most are of one character.
    size, width = len(text), 8
    while at < size:
        window = text[at : at + width]
        rest = len(window.lstrip(signs))
        at += len(window) - rest
        if rest:
            return at
        width *= 2
    return at


def readable(text: str) -> str:
    """Return the text with a replacement character for each unpaired surrogate."""
    text = text.strip(SPACE)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
