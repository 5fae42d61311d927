"""Prepare pending calls for a page: arguments, caller, and a form to change them."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from toolmd._http.console.form import FormField, fields_of
from toolmd._types.asked import fields_of as asked_fields
from toolmd._types.call import Call
from toolmd._types.confirmation import UNDECIDED, Confirmation
from toolmd._types.result import Result
from toolmd._types.run import RunView
from toolmd._types.schema import Parameter
from toolmd._validation.redact import HIDDEN, hider, redacted, redacted_value
from toolmd._workspace import Workspace

PAGE = 50
"""The most pending calls on a page."""


class Slip(NamedTuple):
    """A pending call on a page."""

    confirmation: Confirmation
    kind: Literal["tool", "skill"]
    """The kind of its subject: a call, or a skill with a question."""
    shown: Mapping[str, Any]
    """The arguments, with Sensitive values hidden."""
    message: str
    """The user's own words, without the Sensitive values among the arguments."""
    fields: tuple[FormField, ...]
    """The arguments that may be changed; those with a hidden part may not."""
    run_id: str
    """The run that asks; empty for a call of its own."""


def held_slips(workspace: Workspace, after: str | None) -> tuple[list[Slip], bool]:
    """Return a page of the pending calls, the oldest first, and whether there are more.

    Raises:
        NotFoundError: the call `after` is not kept any more.
    """
    pending = workspace.confirmations.pending_sync(limit=PAGE + 1, after=after)
    return [_slip(workspace, one) for one in pending[:PAGE]], len(pending) > PAGE


def slips_of(workspace: Workspace, view: RunView) -> list[Slip]:
    """Return the questions that a run asks."""
    names = [f"{view.id}/{question.key}" for question in view.questions]
    found = map(workspace.confirmations.get_sync, names)
    return [_slip(workspace, one) for one in found if one is not None and one.state in UNDECIDED]


def waiting(workspace: Workspace) -> str:
    """Return how many calls are pending, for the badge of each page; empty for none."""
    number = len(workspace.confirmations.pending_sync(limit=PAGE + 1))
    return f"{PAGE}+" if number > PAGE else str(number or "")


async def find_slip(workspace: Workspace, confirmation_id: str) -> Slip | None:
    """Return a pending call; None if it is not pending any more."""
    confirmation = await workspace.confirmations.get(confirmation_id)
    return (
        _slip(workspace, confirmation)
        if confirmation is not None and confirmation.state in UNDECIDED
        else None
    )


async def without_sensitive(workspace: Workspace, confirmation_id: str, result: Result) -> Result:
    """Return the result of a decided call as its operator sees it: only its caller gets the whole.

    Args:
        workspace: The project of the call.
        confirmation_id: The decided call, or the question of a run.
        result: The whole result.
    """
    if result.data is None:
        return result
    run_id, is_run, _ = confirmation_id.partition("/")
    if is_run:
        kept = (await workspace.runs.get(run_id)).result
        return result._replace(data=HIDDEN if kept is None else kept.data)
    tool = workspace.tools.get(result.tool)
    data = HIDDEN if tool is None else redacted_value(result.data, tool.spec.returns)
    return result._replace(data=data)


def _slip(workspace: Workspace, confirmation: Confirmation) -> Slip:
    name = confirmation.call.tool
    tool = workspace.tools.get(name)
    bound = tool or workspace.skills.get(name)
    parameters = () if bound is None else bound.spec.parameters
    message = HIDDEN if bound is None else _message(confirmation.call, parameters)
    if confirmation.form is not None:
        fields, run_id = fields_of(asked_fields(confirmation.form)), _run_of(confirmation)
        return Slip(confirmation, "tool", confirmation.shown or {}, message, fields, run_id)
    given = confirmation.shown if isinstance(confirmation.shown, Mapping) else {}
    # The arguments of a run's question are already redacted.
    shown = dict.fromkeys(given, HIDDEN) if bound is None else redacted(given, parameters)
    plain = () if tool is None else tuple(p for p in parameters if not p.shape.holds_sensitive)
    kind: Literal["tool", "skill"] = "skill" if name in workspace.skills else "tool"
    return Slip(confirmation, kind, shown, message, fields_of(plain), _run_of(confirmation))


def _message(call: Call, parameters: tuple[Parameter, ...]) -> str:
    given = call.arguments if isinstance(call.arguments, Mapping) else {}
    hide = hider(given, parameters)
    return call.caller.message if hide is None else hide(call.caller.message)


def _run_of(confirmation: Confirmation) -> str:
    run_id, slash, _ = confirmation.id.partition("/")
    return run_id if slash else ""
