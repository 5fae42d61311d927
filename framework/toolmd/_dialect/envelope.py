"""Open a host's input (text, JSON, a provider's object) as the assistant's message."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from toolmd._validation.strict_json import JsonError
from toolmd._validation.strict_json import decode as decode_json
from toolmd.errors import MalformedReplyError

MAX_BYTES = 256 * 1024
"""Size limit of a reply as UTF-8, in bytes (the `size` check)."""
MAX_CALLS = 32

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


_CLOSING = ".,;:!?)"


def without_stretches(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text without these spans, which are in order; only their seams change.

    At a seam a blank line stays a blank line, a line break a line break, any other white space
    one space, and no space precedes a closing character.
    """
    parts: list[str] = []
    start = 0
    gaps: list[str] = []
    for begin, end in [*spans, (len(text), len(text))]:
        part = text[start:begin]
        body = part.strip(SPACE)
        if body:
            lead = len(part) - len(part.lstrip(SPACE))
            parts += [_seam([*gaps, part[:lead]], body) if parts else "", body]
            gaps = [part[lead + len(body) :]]
        else:
            gaps.append(part)
        start = end
    return readable("".join(parts))


def readable(text: str) -> str:
    """Return the text with a replacement character for each unpaired surrogate."""
    text = text.strip(SPACE)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _seam(gaps: Sequence[str], body: str) -> str:
    """Return the separator between the text before some calls and the `body` after them."""
    lines = max(gap.count("\n") for gap in gaps)
    if lines:
        return "\n" * min(lines, 2) + gaps[-1].rpartition("\n")[2]
    return " " if any(gaps) and body[0] not in _CLOSING else ""


_MAX_DEPTH = 48
"""Deepest nesting of a provider's answer: 32 levels of arguments, and the levels around them."""


class PlainCopy:
    """Copies a host's objects to plain JSON values, and counts their size."""

    def __init__(self, *, lenient: bool = False) -> None:
        """`lenient` copies a larger reply too, without the values that JSON can't hold."""
        self._lenient = lenient
        self._left = MAX_BYTES * (16 if lenient else 1)
        self._within = 0
        """How many of a provider's objects enclose the current value."""
        self.is_halved = False
        """Whether a text contains an unpaired surrogate."""

    def of(self, value: Any, depth: int) -> Any:
        """Return the copy of a value at this depth; MalformedReplyError if it can't be JSON."""
        if isinstance(value, str):
            return self._text(value)
        self._spend(2)
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
            copy = self.of(_dumped(dump), depth + 1)
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
            raise MalformedReplyError("keys of a reply must be text")
        return self._text(key)

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


def _dumped(dump: Any) -> Any:
    try:
        return dump()
    except Exception as error:
        # An error of a foreign object: the reply can't be read, whatever the exception.
        raise MalformedReplyError(f"the reply's model_dump failed: {error}") from error


ReplyKind = Literal["text", "openai", "openai-responses", "anthropic", "gemini", "foreign", "json"]
"""`foreign` is a message of the user or of a tool, `json` is not a provider's message."""

_MAX_PARTS = 1024
_RESPONSES = frozenset({"function_call", "custom_tool_call", "reasoning", "message"})
_ANTHROPIC = frozenset({"tool_use", "text", "thinking", "redacted_thinking", "tool_result"})
_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""Gemini's reasons for a call that is missing from its answer."""
_COMPLETE = frozenset({None, "completed", "STOP", "FINISH_REASON_UNSPECIFIED"})
"""The states of a complete answer or call of Responses, and Gemini's reasons for a complete one."""
_LIMITS = frozenset(
    {"length", "model_length", "max_tokens", "model_context_window_exceeded", "MAX_TOKENS"}
    | {"incomplete"}
)
"""The reasons of an answer that ends at a limit, in the words of all providers."""
_STOPPED = _LIMITS | {"content_filter", "refusal", "error", "insufficient_system_resource", "abort"}
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

    @property
    def named(self) -> tuple[tuple[str | None, str], ...]:
        """Return the id and the tool's name of each call, no id twice."""
        found: dict[Any, tuple[str | None, str]] = {}
        for number, call in enumerate(self.calls):
            said = call if isinstance(call, dict) else {}
            inner = said.get("function") if self.kind == "openai" else said
            name = inner.get("name") if isinstance(inner, dict) else None
            own = said.get("id") if self.kind != "openai-responses" else said.get("call_id")
            known = own if isinstance(own, str) and own else None
            if known is not None or self.kind == "gemini":
                # Without an id, the order names Gemini's calls.
                found.setdefault(known or number, (known, name if isinstance(name, str) else ""))
        return tuple(found.values())

    def name_calls(self, error: MalformedReplyError) -> MalformedReplyError:
        """Return the error with the calls whose ids can be read, so that each gets a result."""
        error.calls = self.named
        items = [one for one in self.calls if isinstance(one, dict)]
        error.custom = frozenset(
            str(one.get("call_id")) for one in items if one.get("type") == "custom_tool_call"
        )
        return error


def open_reply(reply: Any, *, json_text: bool = True) -> Envelope:
    """Return the assistant's message; text is parsed where it is JSON and `json_text` is set.

    Raises MalformedReplyError for more than 256 KiB and for values outside JSON, with the calls
    whose ids can be read all the same.
    """
    try:
        return _open(reply, json_text=json_text)
    except MalformedReplyError as error:
        if json_text and (seen := _seen(reply)) is not None:
            seen.name_calls(error).dialect = seen.kind
            error.clean_message = error.clean_message or readable(seen.text)
        raise


def _seen(reply: Any) -> Envelope | None:
    """Return the calls of a reply that is not valid as a whole; None if none is there."""
    try:
        reply = decoded(reply)
        whole = (
            json.loads(reply) if isinstance(reply, str) else PlainCopy(lenient=True).of(reply, 0)
        )
        envelope = _opened(whole)
    except (MalformedReplyError, ValueError, RecursionError):
        return None
    return envelope if envelope.named else None


def _open(reply: Any, *, json_text: bool) -> Envelope:
    reply = decoded(reply)
    if not isinstance(reply, str):
        copy = PlainCopy()
        envelope = _opened(copy.of(reply, 0))
        if copy.is_halved and (envelope.calls or envelope.kind == "json"):
            # As in JSON text: a missing character could turn one call into another.
            raise MalformedReplyError("a text contains an unpaired surrogate")
        return envelope
    _deny_size(reply)
    text = reply.removeprefix("\ufeff")
    if not json_text or not _looks_like_json(text):
        return Envelope("text", text)
    envelope = _opened(decode_whole(text))
    return replace(envelope, text=text) if envelope.kind == "json" else envelope


def decoded(reply: Any) -> Any:
    """Return bytes as text, and any other reply as it is; raises MalformedReplyError."""
    if not isinstance(reply, bytes | bytearray):
        return reply
    try:
        return reply.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedReplyError(f"the reply is not UTF-8 (byte {error.start})") from None


def _deny_size(text: str) -> None:
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


def _opened(value: Any) -> Envelope:
    if isinstance(value, list):
        return _listed(value, value)
    if not isinstance(value, dict):
        raise MalformedReplyError("the reply is neither text nor an object")
    if isinstance(choices := value.get("choices"), list) and not _is_piece(value):
        return _chosen(choices)
    if isinstance(output := value.get("output"), list) and len(output) <= _MAX_PARTS:
        return _finished(_responses(output), _reason(value, "status"))
    if (candidate := _candidate(value)) is not None:
        return candidate
    if "role" in value or "tool_calls" in value:
        return _message(value)
    return _listed([value], value)


def _listed(values: list[Any], whole: Any) -> Envelope:
    if len(values) > _MAX_PARTS:
        raise MalformedReplyError(f"the reply has more than {_MAX_PARTS} parts")
    if not values or not all(isinstance(item, dict) for item in values):
        return Envelope("json", "", (), whole)
    if any(_is_piece(item) for item in values):
        raise MalformedReplyError("pieces of a stream: join them into one message first")
    if all("role" in item for item in values):
        # In a conversation, all messages but the last have been answered.
        return _opened(values[-1])
    kinds = {item["type"] for item in values if isinstance(item.get("type"), str)}
    if kinds & _RESPONSES:
        return _responses(values)
    if kinds & _ANTHROPIC:
        return _anthropic(values)
    if _has_functions(values):
        return _gemini({}, values)
    if "function" in kinds:
        return Envelope("openai", "", tuple(values))
    return Envelope("json", "", (), whole)


def _chosen(choices: list[Any]) -> Envelope:
    first = choices[0] if choices else None
    if not isinstance(first, dict) or not isinstance(first.get("message"), dict):
        raise MalformedReplyError("the answer's first choice has no message")
    reason = _reason(first, "finish_reason")
    return _finished(_message(first["message"]), reason if reason in _STOPPED else None)


def _message(message: dict[str, Any]) -> Envelope:
    content, calls = message.get("content"), message.get("tool_calls")
    if message.get("function_call") is not None:
        raise MalformedReplyError("function_call is the old form of tool_calls: send `tools`")
    if message.get("role", "assistant") != "assistant":
        # A message of the user or of a tool contains no calls of the assistant.
        return Envelope("foreign", _words(content))
    if calls:
        if not isinstance(calls, list):
            raise MalformedReplyError("tool_calls must be a list")
        return Envelope("openai", _words(content or message.get("refusal")), tuple(calls))
    if isinstance(content, list) and len(content) <= _MAX_PARTS:
        envelope = _anthropic(content)
        if envelope.calls:
            reason = _reason(message, "stop_reason")
            whole = reason in _LIMITS and content[-1] != envelope.calls[-1]
            return _finished(envelope, reason if reason in _STOPPED and not whole else None)
    return Envelope("text", _words(content or message.get("refusal")))


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
    return _finished(Envelope("openai-responses", text, tuple(calls)), *states[:1])


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
        role in {"model", "user", "function"} or (role is None and _has_functions(parts))
    ):
        return _gemini(value, parts)
    candidates = value.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    if not isinstance(first, dict):
        return None
    reason = _reason(first, "finishReason") or _reason(first, "finish_reason")
    content = first.get("content")
    if reason in _UNREADABLE:
        raise MalformedReplyError(f"the model's call could not be read: {reason}")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return _finished(_gemini(content, content["parts"]), reason)
    return Envelope("gemini", "") if isinstance(reason, str) else None


def _has_functions(parts: list[Any]) -> bool:
    """Return whether some parts are Gemini's calls; without their content they are the model's."""
    return any(isinstance(p, dict) and ("functionCall" in p or "function_call" in p) for p in parts)


def _gemini(content: dict[str, Any], parts: list[Any]) -> Envelope:
    if len(parts) > _MAX_PARTS:
        raise MalformedReplyError(f"the reply has more than {_MAX_PARTS} parts")
    objects = [part for part in parts if isinstance(part, dict)]
    said = [None if part.get("thought") else part.get("text") for part in objects]
    if content.get("role") not in {"model", None}:
        return Envelope("foreign", _joined(said))
    calls = [part.get("functionCall", part.get("function_call")) for part in objects]
    return Envelope("gemini", _joined(said), tuple(call for call in calls if call is not None))


def _reason(ended: dict[str, Any], key: str) -> str | None:
    """Return the state of an answer or call, or the reason for its end; None without one."""
    reason = ended.get(key)
    if reason is None or isinstance(reason, str):
        return reason
    raise MalformedReplyError(f"{key} must be text")


def _finished(envelope: Envelope, reason: str | None = None) -> Envelope:
    """Return the message unless its answer ended early, so that a call may be incomplete."""
    if reason in _COMPLETE or not envelope.calls:
        return envelope
    if reason in _LIMITS:
        return replace(envelope, fault="the reply was cut off at its token limit, in a call")
    fault = f"the reply ended early ({reason}), so its calls may be incomplete"
    return replace(envelope, fault=fault)


def _words(content: Any) -> str:
    """Return the visible text of a message's content; adjacent parts are joined."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or len(content) > _MAX_PARTS:
        raise MalformedReplyError(
            f"a message's content must be text or a list of at most {_MAX_PARTS} parts"
        )
    kinds = [part.get("type") if isinstance(part, dict) else None for part in content]
    return _joined(
        part.get(_SPOKEN[kind]) if isinstance(kind, str) and kind in _SPOKEN else None
        for part, kind in zip(content, kinds, strict=True)
    )


def _joined(parts: Iterable[Any]) -> str:
    """Return the texts among some parts; adjacent ones are joined."""
    spoken = [""]
    for words in parts:
        if isinstance(words, str):
            spoken[-1] += words
        else:
            spoken.append("")
    return "\n\n".join(text for text in (s.strip() for s in spoken) if text)
