"""Write the content parts of results as the providers take them: images, PDF and audio."""

from collections.abc import Iterable, Sequence
from typing import Any

from toolmd._types.parts import File
from toolmd._types.result import Result

_IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""The images that every provider reads."""
_PDF = "application/pdf"
_AUDIO = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""The audio that OpenAI reads, and its names for it."""


def for_chat(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return a message of the user with the parts, since messages of tools have only text."""
    content: list[dict[str, Any]] = []
    for result in results:
        if result.parts:
            call = f" (call {result.tool_call_id})" if result.tool_call_id else ""
            numbers = ", ".join(map(str, result.parts))
            told = f"Part {numbers} of what {result.tool}{call} returned:"
            content.append({"type": "text", "text": told})
            content += [_of_chat(part) for part in result.parts.values()]
    return [{"role": "user", "content": content}] if content else []


def for_responses(parts: Iterable[File]) -> list[dict[str, Any]]:
    """Return the parts as content of a `function_call_output`."""
    return [_of_responses(part) for part in parts]


def for_anthropic(parts: Iterable[File]) -> list[dict[str, Any]]:
    """Return the parts as blocks of a `tool_result`."""
    return [_of_anthropic(part) for part in parts]


def for_gemini(parts: Iterable[File]) -> list[dict[str, Any]]:
    """Return the parts as parts of a content."""
    return [{"inlineData": {"mimeType": part.media_type, "data": part.base64}} for part in parts]


def _of_chat(part: File) -> dict[str, Any]:
    if part.media_type in _IMAGES:
        return {"type": "image_url", "image_url": {"url": _url(part)}}
    if part.media_type == _PDF:
        return {"type": "file", "file": {"filename": _name(part), "file_data": _url(part)}}
    if audio := _AUDIO.get(part.media_type):
        return {"type": "input_audio", "input_audio": {"data": part.base64, "format": audio}}
    return {"type": "text", "text": _unshown(part)}


def _of_responses(part: File) -> dict[str, Any]:
    if part.media_type in _IMAGES:
        return {"type": "input_image", "image_url": _url(part)}
    if part.media_type == _PDF:
        return {"type": "input_file", "filename": _name(part), "file_data": _url(part)}
    return {"type": "input_text", "text": _unshown(part)}


def _of_anthropic(part: File) -> dict[str, Any]:
    if part.media_type not in _IMAGES and part.media_type != _PDF:
        return {"type": "text", "text": _unshown(part)}
    kind = "document" if part.media_type == _PDF else "image"
    source = {"type": "base64", "media_type": part.media_type, "data": part.base64}
    return {"type": kind, "source": source}


def _url(part: File) -> str:
    return f"data:{part.media_type};base64,{part.base64}"


def _name(part: File) -> str:
    return part.name[:100] or "file.pdf"


def _unshown(part: File) -> str:
    return f"A part ({part.media_type}, {len(part.data)} bytes) can't be shown to you."
