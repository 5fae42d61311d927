"""Convert results to those of the protocol; a denial is a result too, so the model can act."""

from typing import Any

from mcp.types import CallToolResult, ContentBlock, TextContent

from toolmd._dialect.body import compact
from toolmd._mcp.catalog import Listed
from toolmd._mcp.content import part_block, read_blocks
from toolmd._types.model_view import seen_shape
from toolmd._types.result import Failure, Result
from toolmd._types.skill import SkillSpec
from toolmd._validation import problems

RESULT = "toolmd/result"
"""The key under `_meta` for the parts of a Result that are for the host, not for the model."""
FOR_THE_HOST = ("outcome", "attempts", "duration_ms", "crisis", "truncated", "source")
CAN_CONFIRM = "The user must confirm this call, and did not. Nothing ran."


def answer(listed: Listed, result: Result) -> CallToolResult:
    """Return the client's result of a call."""
    if not result.success:
        return denial(result)
    if isinstance(listed.spec, SkillSpec):
        return skill_answer(result)
    if listed.blocks:
        blocks = read_blocks(result.data)
        if blocks is None:
            return denial(_mismatch(result, "it is not content of the protocol"))
        meta = {RESULT: _host_facts(result)}
        return CallToolResult(content=[*blocks, *_notes(result)], _meta=meta)
    data = result.data
    if wrong := problems(data, seen_shape(listed.spec.returns)):
        if result.handle is not None:
            return denial(_too_large(result))
        return denial(_mismatch(result, wrong[0].message))
    if result.message and result.message != data and not _says(data):
        # Without a place for it in Returns, the tool's own message goes into the notes.
        result = result._replace(notes=(result.message, *result.notes))
    return _done({"result": data} if listed.wrapped else data, result)


def skill_answer(result: Result) -> CallToolResult:
    """Return the client's result of a run."""
    return _done(_of_skill(result), result) if result.success else denial(result)


def denial(result: Result) -> CallToolResult:
    """Return the result of a call that was denied, is pending or failed, with its stable code."""
    error = result.error or _confirmation(result)
    told = [f"{error.code}: {error.message}"]
    told += [problem.message for problem in error.details if problem.message not in error.message]
    shown = {**result.to_dict(), "error": error.to_dict()}
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join(told)), *_notes(result)],
        structured_content=shown,
        is_error=True,
    )


def _confirmation(result: Result) -> Failure:
    if result.outcome == "review":
        message = result.message or "An operator must review this call first."
        return Failure("review_required", message)
    if result.outcome == "waiting":
        message = f"{result.message} It goes on by itself, so do not call it again."
        return Failure("waiting", message)
    return Failure("confirmation_required", CAN_CONFIRM)


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


def _done(structured: Any, result: Result) -> CallToolResult:
    value = structured["result"] if set(structured) == {"result"} else structured
    text = value if isinstance(value, str) else compact(value)
    return CallToolResult(
        content=[
            TextContent(type="text", text=text),
            *map(part_block, result.parts.values()),
            *_notes(result),
        ],
        structured_content=structured,
        _meta={RESULT: _host_facts(result)},
    )


def _says(data: Any) -> bool:
    return isinstance(data, dict) and "message" in data


def _of_skill(result: Result) -> dict[str, Any]:
    data = result.data or {}
    return {"success": True, "message": result.message, "data": data, "error": None}


def _notes(result: Result) -> list[ContentBlock]:
    """Return the notes for the model: a user's edit, a truncation."""
    notes = list(result.notes)
    cut = [name for name, was in (result.truncated or {}).items() if was]
    if cut:
        notes.append(f"The result was truncated (by {' and '.join(cut)}); there is more.")
    return [TextContent(type="text", text=note) for note in notes]


def _host_facts(result: Result) -> dict[str, Any]:
    shown = result.to_dict()
    return {key: shown[key] for key in FOR_THE_HOST if key in shown}
