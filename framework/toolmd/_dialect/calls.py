"""Read a reply's calls from JSON: closed keys, a tool's name, its arguments, a confidence."""

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolmd._dialect.envelope import (
    MAX_BYTES,
    MAX_CALLS,
    Envelope,
    ReplyKind,
    decoded,
    open_reply,
    readable,
)
from toolmd._types.call import Call
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.schema import Parameter, Schema
from toolmd._validation import problems, shapes_for
from toolmd.errors import MalformedReplyError

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
        arguments, confidence = stated(arguments)
    elif keys.confidence in value:
        confidence = read_confidence(value[keys.confidence], keys.confidence)
    call_id = read_id(value.get(keys.id)) if keys.id else None
    tool = read_name(value.get(keys.tool), keys.tool)
    return Call(tool, arguments, call_id, confidence)


def read_parts(name: Any, arguments: Mapping[str, Any], call_id: Any) -> Call:
    """Return the call in a provider's own form; its dialect has already read the arguments."""
    arguments, confidence = stated(arguments)
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


def identified(calls: Iterable[Call]) -> tuple[Call, ...]:
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
    fault = envelope.fault
    if envelope.kind not in readers:
        fault = f"the reply is not a message of {' or '.join(readers)}"
    elif len(envelope.calls) > MAX_CALLS:
        fault = f"more than {MAX_CALLS} calls"
    calls = []
    for number, raw in enumerate(() if fault else envelope.calls, 1):
        try:
            calls.append(readers[envelope.kind](raw))
        except MalformedReplyError as error:
            fault = f"call {number}: {error}"
            break
    if fault:
        denied = envelope.name_calls(MalformedReplyError(fault, clean_message=clean))
        denied.dialect = envelope.kind if envelope.calls else ""
        raise denied
    return Parsed(clean, identified(calls), envelope.kind if calls else "text")


def without_absent(
    arguments: Mapping[str, Any], parameters: Iterable[Parameter], absent: list[str], path: str = ""
) -> dict[str, Any]:
    """Remove each `null` of an optional parameter whose own shape has no null, at any depth.

    Args:
        arguments: The call's arguments.
        parameters: The tool's.
        absent: Receives the path of each argument that was removed.
        path: The path of the object.
    """
    known = {parameter.name: parameter for parameter in parameters}
    made: dict[str, Any] = {}
    for name, value in arguments.items():
        field = known.get(name)
        if field is None:
            made[name] = value
        elif value is None and not field.required and not _takes_null(field.shape):
            absent.append(f"{path}{name}")
        else:
            made[name] = _within(value, field.shape, absent, f"{path}{name}")
    return made


def _takes_null(shape: Schema) -> bool:
    if shape.enum is not None and None not in shape.enum:
        return False
    return not shape.types or "null" in shape.types


def _within(value: Any, shape: Schema, absent: list[str], path: str) -> Any:
    if isinstance(value, list) and shape.items is not None:
        items = shape.items
        return [_within(one, items, absent, f"{path}[{at}]") for at, one in enumerate(value)]
    if isinstance(value, dict):
        for each in shapes_for(value, shape):
            found: list[str] = []
            bare = without_absent(value, each.shape.properties or (), found, f"{path}.")
            if not problems(bare, each.shape):
                absent += found
                return bare
        if shape.properties is not None:
            return without_absent(value, shape.properties, absent, f"{path}.")
        if shape.values is not None:
            below = shape.values
            return {k: _within(one, below, absent, f"{path}.{k}") for k, one in value.items()}
    return value


def parse_foreign(dialect: Dialect, reply: Any) -> Parsed:
    """Return the dialect's Parsed; raises MalformedReplyError, or TypeError for another type."""
    reply = decoded(reply)
    if isinstance(reply, str) and len(reply.encode(errors="surrogatepass")) > MAX_BYTES:
        raise MalformedReplyError(f"the reply is larger than {MAX_BYTES // 1024} KiB")
    parsed: Any = dialect.parse(reply)
    if not isinstance(parsed, Parsed) or not all(isinstance(c, Call) for c in parsed.calls):
        raise TypeError(f"the dialect {dialect.name} did not return a Parsed with Calls")
    clean = parsed.clean_message
    if len(parsed.calls) > MAX_CALLS:
        raise MalformedReplyError(f"more than {MAX_CALLS} calls", clean_message=clean)
    for number, call in enumerate(parsed.calls, 1):
        if call.confidence is None:
            continue
        try:
            read_confidence(call.confidence, "confidence")
        except MalformedReplyError as error:
            raise MalformedReplyError(f"call {number}: {error}", clean_message=clean) from None
    return parsed
