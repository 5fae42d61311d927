"""Unpack a host's input (text, JSON, a provider's object) to the assistant's message."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from toolmd._dialect.decoder import MAX_BYTES, decode_whole, skip_space
from toolmd.errors import MalformedReplyError

ReplyKind = Literal["text", "openai", "openai-responses", "anthropic", "gemini", "foreign", "json"]
"""`foreign` is a message of the user or of a tool, `json` is not a provider's message."""

_MAX_DEPTH = 48
"""Deepest nesting of a provider's answer: 32 levels of arguments, and the levels around them."""
_MAX_PARTS = 1024
_RESPONSES = frozenset({"function_call", "custom_tool_call", "reasoning", "message"})
_ANTHROPIC = frozenset({"tool_use", "text", "thinking", "redacted_thinking", "tool_result"})
_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
"""Gemini's reasons for a call that is missing from its answer."""
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


def open_reply(reply: Any, *, json_text: bool = True) -> Envelope:
    """Return the assistant's message; text is parsed where it is JSON and `json_text` is set.

    Raises MalformedReplyError for more than 256 KiB, for values outside JSON, and for a
    provider's answer that was cut off in a call.
    """
    if isinstance(reply, bytes | bytearray):
        try:
            reply = reply.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise MalformedReplyError(f"the reply is not UTF-8 (byte {error.start})") from None
    if not isinstance(reply, str):
        copy = _Copy()
        envelope = _opened(copy.of(reply, 0))
        if copy.is_halved and (envelope.calls or envelope.kind == "json"):
            # As in JSON text: a missing character could turn one call into another.
            raise MalformedReplyError("a text contains half of a surrogate pair")
        return envelope
    _deny_size(reply)
    text = reply.removeprefix("\ufeff")
    if not json_text or not _looks_like_json(text):
        return Envelope("text", text)
    envelope = _opened(decode_whole(text))
    return replace(envelope, text=text) if envelope.kind == "json" else envelope


def _deny_size(text: str) -> None:
    size = len(text)
    if size * 4 > MAX_BYTES and size <= MAX_BYTES:
        size = len(text.encode(errors="surrogatepass"))
    if size > MAX_BYTES:
        raise MalformedReplyError(f"the reply is larger than {MAX_BYTES // 1024} KiB")


def _looks_like_json(text: str) -> bool:
    """Return whether the text is an object or a list of objects, not prose with a bracket."""
    at = skip_space(text, 0)
    if text.startswith("[", at):
        at = skip_space(text, at + 1)
    return text.startswith("{", at) and text.startswith(('"', "}"), skip_space(text, at + 1))


class _Copy:
    """Copies a host's objects to plain JSON values, and counts their size."""

    def __init__(self) -> None:
        self._left = MAX_BYTES
        self._within = 0
        """How many of a provider's objects enclose the current value."""
        self.is_halved = False
        """Whether a text contains half of a surrogate pair."""

    def of(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value)
        self._spend(2)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float) and value - value == 0:
            return value
        if depth == _MAX_DEPTH:
            raise MalformedReplyError("the reply nests too deep")
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
        raise MalformedReplyError(f"{type(value).__name__} can't be part of a reply")

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


def _opened(value: Any) -> Envelope:
    if isinstance(value, list):
        return _listed(value, value)
    if not isinstance(value, dict):
        raise MalformedReplyError("the reply is neither text nor an object")
    if isinstance(choices := value.get("choices"), list) and not _is_piece(value):
        return _chosen(choices)
    if isinstance(output := value.get("output"), list) and len(output) <= _MAX_PARTS:
        return _whole(_responses(output), cut=value.get("status") == "incomplete")
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
    return _whole(_message(first["message"]), cut=first.get("finish_reason") == "length")


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
            cut = message.get("stop_reason") == "max_tokens" and content[-1] == envelope.calls[-1]
            return _whole(envelope, cut=cut)
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
    cut = any(call.get("status") not in {None, "completed"} for call in calls)
    text = "\n\n".join(part for part in spoken if part)
    return _whole(Envelope("openai-responses", text, tuple(calls)), cut=cut)


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
    reason = first.get("finishReason") or first.get("finish_reason")
    content = first.get("content")
    if reason in _UNREADABLE:
        raise MalformedReplyError(f"the model's call could not be read: {reason}")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return _whole(_gemini(content, content["parts"]), cut=reason == "MAX_TOKENS")
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


def _whole(envelope: Envelope, *, cut: bool) -> Envelope:
    if cut and envelope.calls:
        raise MalformedReplyError("the reply was cut off at its token limit, in a call")
    return envelope


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
