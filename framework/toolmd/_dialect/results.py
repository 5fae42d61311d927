"""Write results for models: the part that a model reads, and content parts as providers take them.

The part that a model reads is short, has a stable code, and has none of the host's fields.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from toolmd._types.parts import File
from toolmd._types.result import Result

_HOST = frozenset({"attempts", "duration_ms", "confirmation", "crisis", "truncated"})
"""Omitted fields: measurements, the id for a person's decision, and flags that are false."""
_IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""The images that every provider reads."""
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""The audio that OpenAI reads, and its names for it."""


def body(result: Result) -> dict[str, Any]:
    """Return the result as an object for the model (behaviour.md, "Result")."""
    shown = result._replace(parts={}).to_dict()
    read = {k: v for k, v in shown.items() if k not in _HOST}
    if any((truncated := shown.get("truncated", {})).values()):
        read["truncated"] = truncated
    if result.crisis:
        read["crisis"] = True
    if result.confirmation is not None:
        read["message"] = result.message or result.confirmation.prompt
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
