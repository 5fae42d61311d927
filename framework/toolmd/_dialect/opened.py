"""Hand an opened reply to what reads it: a provider's calls, or the assistant's words."""

from collections.abc import Callable, Mapping
from typing import Any

from toolmd._dialect.decoder import MAX_CALLS
from toolmd._dialect.envelope import Envelope, ReplyKind, open_reply
from toolmd._dialect.tidy import readable
from toolmd._types.call import Call
from toolmd._types.reply import Parsed
from toolmd.errors import MalformedReplyError

Readers = Mapping[ReplyKind, Callable[[Any], Call]]
"""What reads one raw call, for each form that a dialect knows."""


def parse_words(reply: Any, read: Callable[[str], Parsed]) -> Parsed:
    """Give what a text dialect reads in the assistant's own words, and in nobody else's."""
    envelope = open_reply(reply, json_text=False)
    if envelope.kind == "json":
        raise MalformedReplyError("the reply is neither text nor a message")
    if envelope.kind == "foreign":
        return Parsed(readable(envelope.text))
    return read(envelope.text)


def parse_native(reply: Any, readers: Readers) -> Parsed:
    """Give the message and its calls; a message without calls is one in any dialect."""
    return read_envelope(open_reply(reply), readers)


def read_envelope(envelope: Envelope, readers: Readers) -> Parsed:
    """Give what an opened reply says."""
    clean = readable(envelope.text)
    if envelope.kind in {"text", "foreign"} or (envelope.kind == "json" and clean):
        return Parsed(clean)
    if envelope.kind not in readers:
        raise MalformedReplyError(f"the reply is no message of {' or '.join(readers)}")
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
