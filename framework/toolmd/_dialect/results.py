"""Write results for models, in each dialect's form.

The part that a model reads is short, has a stable code, and has none of the host's fields.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from toolmd._dialect.calls import OURS
from toolmd._types.parts import File
from toolmd._types.result import Result

BLOCKED = "Tool call blocked by safety guardrails"
_HOST = frozenset({"attempts", "duration_ms", "confirmation", "crisis", "truncated"})
"""Omitted fields: measurements, the id for a person's decision, and flags that are false."""
_IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""The images that every provider reads."""
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""The audio that OpenAI reads, and its names for it."""


def body(result: Result) -> dict[str, Any]:
    """Return the result as an object for the model (json.md, "A result")."""
    shown = result._replace(parts={}).to_dict()
    read = {k: v for k, v in shown.items() if k not in _HOST}
    if any((truncated := shown.get("truncated", {})).values()):
        read["truncated"] = truncated
    if result.crisis:
        read["crisis"] = True
    if result.confirmation is not None:
        read["message"] = result.message or result.confirmation.prompt_for_model
    return read


def body_text(result: Result) -> str:
    """Return the body as compact JSON text."""
    return compact(body(result))


def compact(value: Any) -> str:
    """Return JSON on one line; other values are written as text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def content_parts(parts: Iterable[File], provider: str) -> list[dict[str, Any]]:
    """Return parts as a provider takes them; one that it can't read is described in words."""
    forms, text = _FORMS[provider]
    made = []
    for part in parts:
        kind = part.media_type if part.media_type not in _IMAGES else "image"
        kind = "audio" if kind in _AUDIO else kind
        if provider == "gemini":
            kind = "any"
        unread = f"A part ({part.media_type}, {len(part.data)} bytes) can't be shown to you."
        made.append(forms[kind](part) if kind in forms else {"type": text, "text": unread})
    return made


def _url(part: File) -> str:
    return f"data:{part.media_type};base64,{part.base64}"


def _file(part: File) -> dict[str, str]:
    return {"filename": part.name[:100] or "file.pdf", "file_data": _url(part)}


def _source(part: File) -> dict[str, str]:
    return {"type": "base64", "media_type": part.media_type, "data": part.base64}


def _sound(part: File) -> dict[str, str]:
    return {"data": part.base64, "format": _AUDIO[part.media_type]}


_FORMS: dict[str, tuple[dict[str, Callable[[File], dict[str, Any]]], str]] = {
    "openai": ({
        "image": lambda part: {"type": "image_url", "image_url": {"url": _url(part)}},
        "application/pdf": lambda part: {"type": "file", "file": _file(part)},
        "audio": lambda part: {"type": "input_audio", "input_audio": _sound(part)},
    }, "text"),
    "openai-responses": ({
        "image": lambda part: {"type": "input_image", "image_url": _url(part)},
        "application/pdf": lambda part: {"type": "input_file", **_file(part)},
    }, "input_text"),
    "anthropic": ({
        "image": lambda part: {"type": "image", "source": _source(part)},
        "application/pdf": lambda part: {"type": "document", "source": _source(part)},
    }, "text"),
    "gemini": ({
        "any": lambda part: {"inlineData": {"mimeType": part.media_type, "data": part.base64}},
    }, "text"),
}  # fmt: skip
"""The form of each kind of part for each provider, and the type of a part that has only text."""


def chat_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one message of role `tool` for each result, and a user's one with content parts.

    Messages of tools have only text.
    """
    told: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.tool_call_id, "content": body_text(result)}
        for result in results
    ]
    content: list[dict[str, Any]] = []
    for result in (one for one in results if one.parts):
        call = f" (call {result.tool_call_id})" if result.tool_call_id else ""
        numbers = ", ".join(map(str, result.parts))
        text = f"Part {numbers} of what {result.tool}{call} returned:"
        content += [{"type": "text", "text": text}]
        content += content_parts(result.parts.values(), "openai")
    return [*told, {"role": "user", "content": content}] if content else told


def responses_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one `function_call_output` item for each result."""
    return [
        {"type": "function_call_output", "call_id": result.tool_call_id,
         "output": _content(result, "openai-responses", "input_text")}
        for result in results
    ]  # fmt: skip


def anthropic_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message with one `tool_result` block for each result."""
    blocks = [
        {"type": "tool_result", "tool_use_id": result.tool_call_id,
         "content": _content(result, "anthropic", "text"),
         **({} if result.success else {"is_error": True})}
        for result in results
    ]  # fmt: skip
    return [{"role": "user", "content": blocks}] if blocks else []


def _content(result: Result, provider: str, kind: str) -> str | list[dict[str, Any]]:
    text = body_text(result)
    if not result.parts:
        return text
    return [{"type": kind, "text": text}, *content_parts(result.parts.values(), provider)]


def gemini_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one content with a `functionResponse` for each result, in the order of the calls.

    Content parts follow.
    """
    parts = []
    for result in results:
        told = {"name": result.tool, "response": body(result)}
        # Some models give their calls no id; then the order identifies the call.
        own = result.tool_call_id
        told = told if own is None or own.startswith(OURS) else {"id": own, **told}
        parts.append({"functionResponse": told})
    for result in results:
        parts += content_parts(result.parts.values(), "gemini")
    return [{"role": "user", "parts": parts}] if parts else []


def inline_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message, with a line `[TOOL_RESULT:{…}]` for each result.

    The keys are the words of seed 001, section 1: `toolCallId`, and who blocked a call.
    """
    lines = []
    for result in results:
        shown = {{"tool_call_id": "toolCallId"}.get(k, k): v for k, v in body(result).items()}
        if result.outcome == "denied":
            shown["message"] = BLOCKED
        lines.append(f"[TOOL_RESULT:{compact(shown)}]")
    return [{"role": "user", "content": "\n".join(lines)}] if results else []


def action_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message for each result; an unknown tool is `{"error":"unknown_tool"}`.

    A call with a missing argument also has the status `error` (seed 004, "Error Handling").
    """
    told = []
    for result in results:
        shown, error = body(result), result.error
        if error is not None and error.code == "unknown_tool":
            shown = {"error": "unknown_tool"}
        elif error is not None and any(one.code == "missing_argument" for one in error.details):
            shown = {"status": "error", **shown}
        told.append({"role": "user", "content": compact(shown)})
    return told


def plan_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message with all results, in the order of the calls."""
    if not results:
        return []
    return [{"role": "user", "content": compact({"results": [body(r) for r in results]})}]
