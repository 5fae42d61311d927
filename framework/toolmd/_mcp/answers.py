"""Make the protocol's result of ours; a refusal is a result too, which the model can act on."""

import json
from typing import Any

from mcp.types import CallToolResult, ContentBlock, TextContent

from toolmd._mcp.catalog import Listed
from toolmd._mcp.content import read_blocks
from toolmd._types.result import Failure, Result
from toolmd._types.skill import SkillSpec
from toolmd._validation import problems

RESULT = "toolmd/result"
"""Under `_meta`: what of a Result is for the host, not for the model."""
FOR_THE_HOST = ("outcome", "attempts", "duration_ms", "crisis", "truncated", "source")
CAN_CONFIRM = "The user must confirm this call, and did not. Nothing ran."


def answer(listed: Listed, result: Result) -> CallToolResult:
    """Give what the client gets of a call."""
    if not result.success:
        return denial(result)
    if isinstance(listed.spec, SkillSpec):
        return _done(_of_skill(result), result)
    if listed.blocks:
        blocks = read_blocks(result.data)
        if blocks is None:
            return denial(_mismatch(result, "it is no content of the protocol"))
        meta = {RESULT: _host_facts(result)}
        return CallToolResult(content=[*blocks, *_notes(result)], _meta=meta)
    data = result.data
    if wrong := problems(data, listed.spec.returns):
        return denial(_mismatch(result, wrong[0].message))
    if result.message and result.message != data and not _says(data):
        # Where Returns has no place for it, the tool's own sentence stands on the Result alone.
        result = result._replace(notes=(result.message, *result.notes))
    return _done({"result": data} if listed.wrapped else data, result)


def denial(result: Result) -> CallToolResult:
    """Give a call that was refused, held or failed, with its stable code."""
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
        message = result.message or "Somebody who looks after this system must look at it first."
        return Failure("held_for_review", message)
    return Failure("confirmation_required", CAN_CONFIRM)


def _mismatch(result: Result, why: str) -> Result:
    # The client would refuse it, and hide that the tool ran.
    message = f"{result.tool} ran and took effect, but what it gave does not fit its Returns: {why}"
    failure = Failure("result_mismatch", message)
    return result._replace(success=False, outcome="failed", error=failure, notes=())


def _done(structured: Any, result: Result) -> CallToolResult:
    value = structured["result"] if set(structured) == {"result"} else structured
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return CallToolResult(
        content=[TextContent(type="text", text=text), *_notes(result)],
        structured_content=structured,
        _meta={RESULT: _host_facts(result)},
    )


def _says(data: Any) -> bool:
    return isinstance(data, dict) and "message" in data


def _of_skill(result: Result) -> dict[str, Any]:
    data = result.data or {}
    return {"success": True, "message": result.message, "data": data, "error": None}


def _notes(result: Result) -> list[ContentBlock]:
    """Give what the model must know beside the result: a user's edit, a cut."""
    notes = list(result.notes)
    cut = [name for name, was in (result.truncated or {}).items() if was]
    if cut:
        notes.append(f"The result was cut short (by {' and '.join(cut)}); there is more.")
    return [TextContent(type="text", text=note) for note in notes]


def _host_facts(result: Result) -> dict[str, Any]:
    shown = result.to_dict()
    return {key: shown[key] for key in FOR_THE_HOST if key in shown}
