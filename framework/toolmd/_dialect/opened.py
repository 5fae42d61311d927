"""Parse an unpacked reply: a provider's calls, or the assistant's text."""

from collections.abc import Callable, Mapping
from typing import Any

from toolmd._dialect.decoder import MAX_CALLS
from toolmd._dialect.envelope import Envelope, ReplyKind, open_reply
from toolmd._dialect.tidy import readable
from toolmd._types.call import Call
from toolmd._types.reply import Parsed
from toolmd.errors import MalformedReplyError

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
