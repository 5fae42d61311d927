"""Convert results to those of the protocol; a denial is a result too, so the model can act."""

from typing import Any
from urllib.parse import quote

from mcp.types import ContentBlock
from pydantic import TypeAdapter, ValidationError

from toolmd._dialect.results import compact
from toolmd._types.model_view import seen_shape
from toolmd._types.parts import File
from toolmd._types.result import Failure, Result
from toolmd._types.schema import Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import problems

KINDS = frozenset(("text", "image", "audio", "resource", "resource_link"))
_BLOCKS: TypeAdapter[list[ContentBlock]] = TypeAdapter(list[ContentBlock])


def gives_blocks(returns: Schema) -> bool:
    """Check whether a tool's Returns declare content blocks.

    They do if the object, or the array's items, has a property `type` whose Enum contains only
    the protocol's kinds of content.
    """
    shape = returns.items if returns.types == ("array",) else returns
    for field in (shape.properties or ()) if shape is not None else ():
        if field.name == "type" and field.shape.enum:
            return set(map(str, field.shape.enum)) <= KINDS
    return False


def part_block(part: File) -> dict[str, Any]:
    """Return a content part of a result as a content block."""
    data, media_type = part.base64, part.media_type
    if part.kind in ("image", "audio"):
        return {"type": part.kind, "data": data, "mimeType": media_type}
    uri = f"toolmd://result/{quote(part.name, safe='') or 'file'}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": data}}


def read_blocks(data: Any) -> list[dict[str, Any]] | None:
    """Return a value as content blocks; None if it isn't valid."""
    try:
        blocks = _BLOCKS.validate_python(data if isinstance(data, list) else [data])
    except ValidationError:
        return None
    dumped: list[dict[str, Any]] = _BLOCKS.dump_python(
        blocks, by_alias=True, mode="json", exclude_none=True
    )
    return dumped


COMPLETE = {"resultType": "complete"}
"""What each result states since 2026-07-28."""
FRESH = {"ttlMs": 0, "cacheScope": "private"}
"""The caching hints of lists since 2026-07-28: a list may change with the next save."""
RESULT = "toolmd/result"
"""The key under `_meta` for the parts of a Result that are for the host, not for the model."""
FOR_THE_HOST = ("outcome", "attempts", "duration_ms", "crisis", "truncated", "source")
_UNCONFIRMED = "The user must confirm this call, and did not. "


def answer(
    result: Result, spec: ToolSpec | SkillSpec, *, blocks: bool, wrapped: bool
) -> dict[str, Any]:
    """Return the client's result of a call.

    Args:
        result: The result for the model.
        spec: The definition of the tool or the skill.
        blocks: Whether the data is content blocks.
        wrapped: Whether the data is in `structuredContent.result`.
    """
    if not result.success:
        return denial(result)
    if isinstance(spec, SkillSpec):
        return _done(_of_skill(result), result)
    if blocks:
        content = read_blocks(result.data)
        if content is None:
            return denial(_mismatch(result, "it is not content of the protocol"))
        return _success(content, result)
    data = result.data
    if wrong := problems(data, seen_shape(spec.returns)):
        if result.handle is not None:
            return denial(_too_large(result))
        return denial(_mismatch(result, wrong[0].message))
    if result.message and result.message != data and not _says(data):
        # Without a place for it in Returns, the tool's own message goes into the notes.
        result = result._replace(notes=(result.message, *result.notes))
    return _done({"result": data} if wrapped else data, result)


def denial(result: Result) -> dict[str, Any]:
    """Return the result of a call that was denied, is pending or failed, with its stable code."""
    error = result.error or _confirmation(result)
    lines = [f"{error.code}: {error.message}"]
    lines += [problem.message for problem in error.details if problem.message not in error.message]
    if (asked := result.confirmation) is not None:
        result = result._replace(confirmation=asked._replace(prompt=asked.prompt_for_model))
    structured = {**result.to_dict(), "error": error.to_dict()}
    content = [_text("\n".join(lines)), *_notes(result)]
    return {**COMPLETE, "content": content, "structuredContent": structured, "isError": True}


def _confirmation(result: Result) -> Failure:
    asked = result.confirmation
    if result.outcome == "review":
        message = result.message or "An operator must review this call first."
        return Failure("review_required" if asked is None else asked.waits_as, message)
    if result.outcome == "waiting":
        message = f"{result.message} It goes on by itself, so do not call it again."
        return Failure("waiting", message)
    ran = "The steps before it ran, and its run waits: do not call it again."
    ran = ran if asked is not None and "/" in asked.id else "Nothing ran."
    code = "confirmation_required" if asked is None else asked.waits_as
    return Failure(code, _UNCONFIRMED + ran)


def _mismatch(result: Result, why: str) -> Result:
    # The client would reject the result, and hide that the tool ran.
    message = f"{result.tool} ran and took effect, but its result does not fit its Returns: {why}"
    failure = Failure("result_mismatch", message)
    return result._replace(success=False, outcome="failed", error=failure, notes=())


def _too_large(result: Result) -> Result:
    # What fits is not what the listed schema promises, so a client would reject it.
    message = (
        f"{result.tool} ran and took effect, but its result is too large to be shown. Read it"
        f" with read_result and handle {result.handle}; do not call it again."
    )
    failure = Failure("result_too_large", message)
    return result._replace(success=False, outcome="failed", data=None, error=failure, notes=())


def _done(structured: Any, result: Result) -> dict[str, Any]:
    value = structured["result"] if set(structured) == {"result"} else structured
    text = value if isinstance(value, str) else compact(value)
    content = [_text(text), *map(part_block, result.parts.values())]
    return {**_success(content, result), "structuredContent": structured}


def _success(content: list[dict[str, Any]], result: Result) -> dict[str, Any]:
    whole = result.to_dict()
    facts = {key: whole[key] for key in FOR_THE_HOST if key in whole}
    return {
        **COMPLETE,
        "_meta": {RESULT: facts},
        "content": [*content, *_notes(result)],
        "isError": False,
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _says(data: Any) -> bool:
    return isinstance(data, dict) and "message" in data


def _of_skill(result: Result) -> dict[str, Any]:
    data = result.data or {}
    return {"success": True, "message": result.message, "data": data, "error": None}


def _notes(result: Result) -> list[dict[str, Any]]:
    """Return the notes for the model: a user's edit, a truncation."""
    notes = list(result.notes)
    cut = [name for name, was in (result.truncated or {}).items() if was]
    if cut:
        notes.append(f"The result was truncated (by {' and '.join(cut)}); there is more.")
    return [_text(note) for note in notes]
