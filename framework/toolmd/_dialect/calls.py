"""Read a reply's calls from JSON: closed keys, a tool's name, its arguments, a confidence."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolmd._dialect.decoder import MAX_CALLS, readable
from toolmd._dialect.envelope import Envelope, ReplyKind, open_reply
from toolmd._types.call import Call
from toolmd._types.reply import Parsed
from toolmd.errors import MalformedReplyError

MAX_NAME = 128
"""Longest name of a tool or id of a call, in characters."""
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
        arguments, confidence = stated(arguments)
    elif keys.confidence in value:
        confidence = read_confidence(value[keys.confidence], keys.confidence)
    call_id = read_id(value[keys.id], keys.id) if keys.id and keys.id in value else None
    tool = read_name(value.get(keys.tool), keys.tool)
    return Call(tool, arguments, call_id, confidence)


def read_parts(name: Any, arguments: Mapping[str, Any], call_id: Any) -> Call:
    """Return the call in a provider's own form; its dialect has already read the arguments."""
    arguments, confidence = stated(arguments)
    call_id = None if call_id is None else read_id(call_id, "id")
    return Call(read_name(name, "name"), arguments, call_id, confidence)


def read_name(value: Any, key: str) -> str:
    """Return a tool's name as the model wrote it; the lookup checks later that it exists."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
        raise MalformedReplyError(f"{key} must be the tool's name, a text")
    return value


def read_id(value: Any, key: str) -> str:
    """Return a call's id."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
        raise MalformedReplyError(f"{key} must be a text of 1 to {MAX_NAME} characters")
    return value


def read_arguments(value: Any, key: str) -> Mapping[str, Any]:
    """Return the arguments, which are always an object."""
    if not isinstance(value, dict):
        raise MalformedReplyError(f"{key} must be an object, {{}} where there are none")
    return value


def read_confidence(value: Any, key: str) -> float:
    """Return the model's confidence; true is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MalformedReplyError(f"{key} must be a number from 0 to 1")
    return float(value)


def stated(arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], float | None]:
    """Remove `_confidence` from the arguments (behaviour.md: native calls have none)."""
    if CONFIDENCE not in arguments:
        return arguments, None
    rest = {k: v for k, v in arguments.items() if k != CONFIDENCE}
    return rest, read_confidence(arguments[CONFIDENCE], CONFIDENCE)


Readers = Mapping[ReplyKind, Callable[[Any], Call]]
"""The reader of one raw call, for each form that a dialect supports."""


def parse_words(reply: Any, read: Callable[[str], Parsed]) -> Parsed:
    """Parse the assistant's own text with a text dialect; other messages have no calls."""
    envelope = open_reply(reply, json_text=False)
    if envelope.kind == "json":
        raise MalformedReplyError("the reply is neither text nor a message")
    if envelope.kind == "foreign":
        return Parsed(readable(envelope.text))
    return read(envelope.text)


def parse_native(reply: Any, readers: Readers) -> Parsed:
    """Return the message and its calls; a message without calls is valid in any dialect."""
    return read_envelope(open_reply(reply), readers)


def read_envelope(envelope: Envelope, readers: Readers) -> Parsed:
    """Return the message and calls of an unpacked reply."""
    clean = readable(envelope.text)
    if envelope.kind in {"text", "foreign"} or (envelope.kind == "json" and clean):
        return Parsed(clean)
    if envelope.kind not in readers:
        raise MalformedReplyError(f"the reply is not a message of {' or '.join(readers)}")
    if len(envelope.calls) > MAX_CALLS:
        raise MalformedReplyError(f"more than {MAX_CALLS} calls", clean_message=clean)
    read = readers[envelope.kind]
    calls = tuple(_read(read, raw, number, clean) for number, raw in enumerate(envelope.calls, 1))
    return Parsed(clean, calls, envelope.kind if calls else "text")


def _read(read: Callable[[Any], Call], raw: Any, number: int, clean: str) -> Call:
    try:
        return read(raw)
    except MalformedReplyError as error:
        raise MalformedReplyError(f"call {number}: {error}", clean_message=clean) from None
