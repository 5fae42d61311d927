"""Open a host's input (text, JSON, a provider's object) as the assistant's message."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal, NamedTuple

from toolmd._dialect.calls import (
    MAX_BYTES,
    MAX_CALLS,
    decode_whole,
    give_ids,
    read_arguments,
    read_id,
    read_name,
    readable,
    skip,
    take_confidence,
)
from toolmd._types.call import Call
from toolmd._types.turn import Parsed
from toolmd._validation.strict_json import decode_loosely
from toolmd.errors import MalformedReplyError

ReplyKind = Literal["text", "openai", "openai-responses", "anthropic", "gemini", "foreign", "json"]
"""`foreign` is a message of the user or of a tool, `json` is not a provider's message."""


class Form(NamedTuple):
    """Where a provider's call has its id, its name and its arguments."""

    arguments: str
    type: str = ""
    """The type of a call; empty where calls have none."""
    ids: tuple[str, ...] = ("id",)
    inner: str = ""
    """The key of the object that has the name and the arguments; empty for the call itself."""
    as_text: bool = False
    """Whether the arguments are JSON text."""

    def function(self, raw: Any) -> Any:
        """Return the object of a call that has the name and the arguments."""
        return raw.get(self.inner) if self.inner and isinstance(raw, dict) else raw

    def id_of(self, raw: Any) -> str | None:
        """Return the id of a call; None where it has none."""
        given = (read_id(raw.get(key)) for key in self.ids) if isinstance(raw, dict) else ()
        return next((own for own in given if own is not None), None)

    def read(self, raw: Any) -> Call:
        """Return a call; raises MalformedReplyError."""
        function = self.function(raw)
        if not isinstance(function, dict) or raw.get("type", self.type) not in {self.type, None}:
            what = f" of the type {self.type}" if self.type else ""
            raise MalformedReplyError(f"a call{what} has the keys name and {self.arguments}")
        if any(raw.get(key) for key in _PARTIAL):
            raise MalformedReplyError("a call is a piece of a stream: join the pieces first")
        given = function.get(self.arguments)
        if self.as_text and isinstance(given, str) and given.strip():
            given = decode_whole(given)
        arguments, confidence = take_confidence(read_arguments(given, self.arguments))
        return Call(read_name(function.get("name"), "name"), arguments, self.id_of(raw), confidence)


FORMS: Mapping[ReplyKind, Form] = {
    "openai": Form("arguments", "function", inner="function", as_text=True),
    "openai-responses": Form("arguments", "function_call", ("call_id", "id"), as_text=True),
    "anthropic": Form("input", "tool_use"),
    "gemini": Form("args"),
}
"""The form of a call in each provider's messages."""
_PARTIAL = ("partialArgs", "partial_args", "willContinue", "will_continue")
"""The keys of one of Gemini's calls whose arguments come in pieces."""
_RESPONSES = frozenset({"function_call", "custom_tool_call", "reasoning", "message"})
_ANTHROPIC = frozenset({"tool_use", "text", "thinking", "redacted_thinking", "tool_result"})
_COMPLETE = frozenset({None, "completed", "STOP", "FINISH_REASON_UNSPECIFIED"})
"""The states of a complete answer or call of Responses, and Gemini's reasons for a complete one."""
_LIMITS = frozenset(
    {"length", "model_length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"}
    | {"incomplete"}
)
"""The reasons of an answer that ends at a limit, in the words of all providers."""
_UNREADABLE = "with a reason that can't be read"
_STOPPED = _LIMITS | {"content_filter", "refusal", "error", "insufficient_system_resource", "abort",
                      _UNREADABLE}  # fmt: skip
"""The reasons of a chat completion or a message that ends before its model was done."""
_PIECES = ("response.", "content_block_", "message_start", "message_delta", "message_stop")
"""Prefixes of the types of stream events, of Responses and of Anthropic."""
_SPOKEN = {"text": "text", "output_text": "text", "refusal": "refusal"}
"""The kinds of parts that the user reads, and the key of their text."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The assistant's own message: its text, and its calls in the provider's form."""

    kind: ReplyKind
    text: str
    calls: tuple[Any, ...] = ()
    value: Any = None
    """The JSON itself, for `json`."""
    fault: str = ""
    """Why its calls can't be taken, such as an answer that was cut off in a call."""

    def with_fault(self, fault: str) -> "Envelope":
        """Return the message with a fault, unless it has one already."""
        return replace(self, fault=self.fault or fault)

    def with_end(self, reason: str | None) -> "Envelope":
        """Return the message with the reason for its end; an early end may cut a call."""
        if reason in _COMPLETE or not self.calls:
            return self
        cut = reason in _LIMITS
        return self.with_fault("the reply was cut off at its token limit, in a call" if cut else
                        f"the reply ended early ({reason}), so its calls may be incomplete"
                        )  # fmt: skip

    def to_error(self, fault: str = "") -> MalformedReplyError:
        """Return the error of the message, with each call whose id can be read.

        So each of them gets a result, and the provider accepts the next request.
        """
        error = MalformedReplyError(self.fault or fault, clean_message=readable(self.text))
        error.dialect = self.kind if self.calls else ""
        found: dict[Any, tuple[str | None, str]] = {}
        for number, raw in enumerate(self.calls):
            form = FORMS[self.kind]
            own, function = form.id_of(raw), form.function(raw)
            name = function.get("name") if isinstance(function, dict) else None
            if own is not None or self.kind == "gemini":
                # Without an id, the order names Gemini's calls.
                found.setdefault(own or number, (own, name if isinstance(name, str) else ""))
        error.calls = tuple(found.values())
        customs = [raw for raw in self.calls
                   if isinstance(raw, dict) and raw.get("type") == "custom_tool_call"]  # fmt: skip
        ids = (FORMS[self.kind].id_of(raw) for raw in customs)
        error.custom = frozenset(own for own in ids if own is not None)
        return error


def read_envelope(envelope: Envelope, kinds: Collection[ReplyKind] = tuple(FORMS)) -> Parsed:
    """Return the message and calls of an unpacked reply; raises MalformedReplyError."""
    clean = readable(envelope.text)
    if envelope.fault:
        raise envelope.to_error()
    if envelope.kind in {"text", "foreign"} or (envelope.kind == "json" and clean):
        return Parsed(clean)
    if envelope.kind not in kinds:
        raise envelope.to_error(f"the reply is not a message of {' or '.join(kinds)}")
    if len(envelope.calls) > MAX_CALLS:
        raise envelope.to_error(f"more than {MAX_CALLS} calls")
    calls = []
    for number, raw in enumerate(envelope.calls, 1):
        try:
            calls.append(FORMS[envelope.kind].read(raw))
        except MalformedReplyError as error:
            raise envelope.to_error(f"call {number}: {error}") from None
    return Parsed(clean, give_ids(calls), envelope.kind if calls else "text")


def open_reply(reply: Any, *, json_text: bool = True) -> Envelope:
    """Return the assistant's message; text is parsed where it is JSON and `json_text` is set.

    Raises MalformedReplyError for more than 256 KiB and for values outside JSON. Where such a reply
    has calls, they come with the fault.
    """
    reply = decode_bytes(reply)
    try:
        if not isinstance(reply, str):
            return _copy(reply)
        deny_size(reply)
        text = reply.removeprefix("\ufeff")
        if not json_text or not _looks_like_json(text):
            return Envelope("text", text)
        envelope = _open(decode_whole(text))
        return replace(envelope, text=text) if envelope.kind == "json" else envelope
    except MalformedReplyError as error:
        seen = _seen(reply) if json_text or not isinstance(reply, str) else None
        if seen is None or not seen.calls:
            raise
        return replace(seen, fault=str(error))


def _copy(reply: Any) -> Envelope:
    copy = PlainCopy()
    envelope = _open(copy.of(reply, 0))
    if copy.is_halved and (envelope.calls or envelope.kind == "json"):
        # As in JSON text: a missing character could turn one call into another.
        raise MalformedReplyError("a text contains an unpaired surrogate")
    return envelope


def _seen(reply: Any) -> Envelope | None:
    """Return the message of a reply that is not valid as a whole; None if none is there."""
    try:
        if not isinstance(reply, str):
            return _open(PlainCopy(lenient=True).of(reply, 0))
        text = reply.removeprefix("\ufeff")
        known = decode_loosely(text, skip(text, 0)) if len(text) <= _MOST_SEEN else None
        return None if known is None else _open(known[0])
    except MalformedReplyError:
        return None


def decode_bytes(reply: Any) -> Any:
    """Return bytes as text, and any other reply as it is; raises MalformedReplyError."""
    if not isinstance(reply, bytes | bytearray):
        return reply
    try:
        return reply.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedReplyError(f"the reply is not UTF-8 (byte {error.start})") from None


def deny_size(text: str) -> None:
    """Raise MalformedReplyError for a text of more than 256 KiB."""
    size = len(text)
    if size * 4 > MAX_BYTES and size <= MAX_BYTES:
        size = len(text.encode(errors="surrogatepass"))
    if size > MAX_BYTES:
        raise MalformedReplyError(f"the reply is larger than {MAX_BYTES // 1024} KiB")


def _looks_like_json(text: str) -> bool:
    """Return whether the text is an object or a list of objects, not prose with a bracket."""
    at = skip(text, 0)
    if text.startswith("[", at):
        at = skip(text, at + 1)
    return text.startswith("{", at) and text.startswith(('"', "}"), skip(text, at + 1))


def _open(value: Any) -> Envelope:
    if isinstance(value, list):
        return _open_list(value, value)
    if not isinstance(value, dict):
        raise MalformedReplyError("the reply is neither text nor an object")
    if isinstance(choices := value.get("choices"), list) and not _is_piece(value):
        first = choices[0] if choices else None
        if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
            raise MalformedReplyError("the answer's first choice has no message")
        reason = _reason(first, "finish_reason")
        return _message(first["message"]).with_end(reason if reason in _STOPPED else None)
    if isinstance(output := value.get("output"), list):
        return _responses(output).with_end(_reason(value, "status"))
    if (candidate := _candidate(value)) is not None:
        return candidate
    if "role" in value or "tool_calls" in value:
        return _message(value)
    return _open_list([value], value)


def _open_list(values: list[Any], whole: Any) -> Envelope:
    if not values or not all(isinstance(item, dict) for item in values):
        return Envelope("json", "", (), whole)
    if any(map(_is_piece, values)):
        raise MalformedReplyError("pieces of a stream: join them into one message first")
    if all("role" in item for item in values):
        # In a conversation, all messages but the last have been answered.
        return _open(values[-1])
    kinds = {item["type"] for item in values if isinstance(item.get("type"), str)}
    if kinds & _RESPONSES:
        return _responses(values)
    if kinds & _ANTHROPIC:
        return _anthropic(values)
    if any(map(_is_call, values)):
        return _gemini({}, values)
    if "function" in kinds:
        return Envelope("openai", "", tuple(values))
    return Envelope("json", "", (), whole)


def _message(message: dict[str, Any]) -> Envelope:
    content, calls = message.get("content"), message.get("tool_calls")
    odd = content is not None and not isinstance(content, str | list)
    fault = "a message's content must be text or a list of parts" if odd else ""
    if message.get("role", "assistant") != "assistant":
        # A message of the user or of a tool contains no calls of the assistant.
        return Envelope("foreign", _words(content), fault=fault)
    if message.get("function_call") is not None:
        fault = "function_call is the old form of tool_calls: send `tools`"
    spoken = _words(content or message.get("refusal"))
    if calls or fault:
        if calls and not isinstance(calls, list):
            calls, fault = (), "tool_calls must be a list"
        return Envelope("openai", spoken, tuple(calls or ()), fault=fault)
    if isinstance(content, list) and (envelope := _anthropic(content)).calls:
        reason = _reason(message, "stop_reason")
        whole = reason in _LIMITS and content[-1] != envelope.calls[-1]
        return envelope.with_end(reason if reason in _STOPPED and not whole else None)
    return Envelope("text", spoken)


def _responses(items: list[Any]) -> Envelope:
    calls, spoken = [], []
    for item in items:
        match item:
            case {"type": "function_call" | "custom_tool_call"}:
                calls.append(item)
            case {"type": "message", "content": content, "role": "assistant"}:
                spoken.append(_words(content))
            case _:
                pass  # reasoning, and calls that the provider has run itself
    states = [state for call in calls if (state := _reason(call, "status")) not in _COMPLETE]
    text = "\n\n".join(part for part in spoken if part)
    return Envelope("openai-responses", text, tuple(calls)).with_end(next(iter(states), None))


def _anthropic(blocks: list[Any]) -> Envelope:
    calls = tuple(b for b in blocks if isinstance(b, dict) and b.get("type") == "tool_use")
    return Envelope("anthropic", _words(blocks), calls)


def _is_piece(item: dict[str, Any]) -> bool:
    if item.get("object") == "chat.completion.chunk":
        return True
    kind = item.get("type")
    return isinstance(kind, str) and kind.startswith(_PIECES)


def _candidate(value: dict[str, Any]) -> Envelope | None:
    """Unpack an answer of Gemini, or one content of it; None for another form."""
    parts, role = value.get("parts"), value.get("role")
    if isinstance(parts, list) and (
        role in {"model", "user", "function"} or (role is None and any(map(_is_call, parts)))
    ):
        return _gemini(value, parts)
    candidates = value.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    if not isinstance(first, dict):
        return None
    reason = _reason(first, "finishReason") or _reason(first, "finish_reason")
    content = first.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    if isinstance(content, dict) and isinstance(parts, list):
        envelope = _gemini(content, parts)
    elif reason is None:
        return None
    else:
        envelope = Envelope("gemini", "")
    if reason in {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"}:
        return envelope.with_fault(f"the model's call could not be read: {reason}")
    return envelope.with_end(reason)


def _is_call(part: Any) -> bool:
    """Return whether a part is one of Gemini's calls; without its content it is the model's."""
    return isinstance(part, dict) and ("functionCall" in part or "function_call" in part)


def _gemini(content: dict[str, Any], parts: list[Any]) -> Envelope:
    objects = [part for part in parts if isinstance(part, dict)]
    said = _join(None if part.get("thought") else part.get("text") for part in objects)
    if content.get("role") not in {"model", None}:
        return Envelope("foreign", said)
    calls = [part.get("functionCall", part.get("function_call")) for part in objects]
    return Envelope("gemini", said, tuple(call for call in calls if call is not None))


def _reason(ended: dict[str, Any], key: str) -> str | None:
    """Return the state of an answer or call, or the reason for its end; None without one."""
    reason = ended.get(key)
    return reason if reason is None or isinstance(reason, str) else _UNREADABLE


def _words(content: Any) -> str:
    """Return the visible text of a message's content; adjacent parts are joined."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    kinds = [part.get("type") if isinstance(part, dict) else None for part in content]
    return _join(
        part.get(_SPOKEN[kind]) if isinstance(kind, str) and kind in _SPOKEN else None
        for part, kind in zip(content, kinds, strict=True)
    )


def _join(parts: Iterable[Any]) -> str:
    """Return the texts among some parts; adjacent ones are joined."""
    spoken = [""]
    for words in parts:
        if isinstance(words, str):
            spoken[-1] += words
        else:
            spoken.append("")
    return "\n\n".join(text for text in (s.strip() for s in spoken) if text)


_MOST_SEEN = 16 * MAX_BYTES
"""The size of a reply that is too large, and in which ids are read all the same."""
_MAX_DEPTH = 48
"""Deepest nesting of a provider's answer: 32 levels of arguments, and the levels around them."""


class PlainCopy:
    """Copies a host's objects to plain JSON values, and counts their size."""

    def __init__(self, *, lenient: bool = False) -> None:
        """`lenient` copies a larger reply too, without the values that JSON can't hold."""
        self._lenient = lenient
        self._left, self._each = (_MOST_SEEN, 32) if lenient else (MAX_BYTES, 2)
        self._within = 0
        """How many of a provider's objects enclose the current value."""
        self.is_halved = False
        """Whether a text contains an unpaired surrogate."""

    def of(self, value: Any, depth: int) -> Any:
        """Return the copy of a value at this depth; MalformedReplyError if it can't be JSON."""
        if isinstance(value, str):
            return self._text(value)
        self._spend(self._each)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float) and value - value == 0:
            return value
        if depth == _MAX_DEPTH:
            return self._refuse("the reply nests too deep")
        if isinstance(value, Mapping):
            return {self._key(k): self.of(v, depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(item, depth + 1) for item in value]
        if callable(dump := getattr(value, "model_dump", None)):
            self._within += 1
            copy = self.of(_dump(dump), depth + 1)
            self._within -= 1
            return copy
        if self._within and isinstance(value, bytes | date):
            return None  # a signature, a picture, a time: neither text nor a call
        return self._refuse(f"{type(value).__name__} can't be part of a reply")

    def _refuse(self, why: str) -> None:
        if not self._lenient:
            raise MalformedReplyError(why)

    def _key(self, key: Any) -> str:
        if not isinstance(key, str):
            self._refuse("keys of a reply must be text")
        return self._text(str(key))

    def _text(self, text: str) -> str:
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            self.is_halved = True
            size = len(text.encode(errors="surrogatepass"))
        self._spend(size)
        return text

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise MalformedReplyError(f"the reply is larger than {MAX_BYTES // 1024} KiB")


def _dump(dump: Any) -> Any:
    try:
        return dump()
    except Exception as error:
        # An error of a foreign object: the reply can't be read, whatever the exception.
        raise MalformedReplyError(f"the reply's model_dump failed: {error}") from error
