"""Answer what an MCP server asks for during a call, so that the call goes on."""

from collections.abc import Mapping
from typing import Any

from toolmd._call.arguments.argument_errors import mismatch
from toolmd._call.compiled import CompiledTool
from toolmd._call.confirmation.flow import ApprovedCall, ConfirmationFlow
from toolmd._call.denial import CallDenied, deny, overruled
from toolmd._types.asked import Asked
from toolmd._types.confirmation import Confirmation
from toolmd._types.verdict import Action
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError, MalformedError

CHANGED = "The tool or its policy changed since its server asked: call the tool again."
ELSEWHERE = (
    "The server waits for this answer in another process, or not any more. Answer in the console or"
    " the client that made the call, or call the tool again."
)


async def answer(
    flow: ConfirmationFlow,
    tool: CompiledTool,
    confirmation: Confirmation,
    given: Mapping[str, Any] | None,
) -> ApprovedCall:
    """Return the call of a server's question, with the answer; None declines to answer.

    Raises CallDenied; the question is open then, unless the tool changed.
    """
    call, asked = confirmation.call, confirmation.call.asked
    assert asked is not None
    assert isinstance(call.arguments, dict)
    await tool.invoker.prepare()
    if flow.approval_hash(tool, call.arguments) != confirmation.bound_to:
        await flow.claim(confirmation, "stale")
        raise deny("confirmation_stale", CHANGED)
    if not tool.invoker.may_answer(asked):
        raise deny("confirmation_elsewhere", ELSEWHERE)
    verdict = await tool.guard(call, call.arguments)
    if verdict.action is Action.DENY:
        raise overruled(verdict)
    content = {} if given is None else content_of(asked, given)
    await flow.claim(confirmation, "rejected" if given is None else "answered")
    answered = asked._replace(action="decline" if given is None else "accept", content=content)
    runs = call._replace(asked=answered, key=call.key or confirmation.id)
    return ApprovedCall(runs, call.arguments, confirmation.notes)


def content_of(asked: Asked, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for a server's form. Raises CallDenied for those that do not fit."""
    try:
        return ArgumentsValidator(asked.fields).validate({**asked.defaults, **given})
    except (MalformedError, InvalidArgumentsError) as error:
        raise CallDenied(mismatch(error)) from None


def values_of(asked: Asked, text: str) -> dict[str, Any]:
    """Return the values that a text stands for: an object as JSON, or that of the only field.

    Raises CallDenied where a form has several fields.
    """
    if len(asked.fields) == 1 and asked.fields[0].shape.types == ("string",):
        return {asked.fields[0].name: text}
    try:
        return ArgumentsValidator(asked.fields).validate(text)
    except MalformedError:
        names = ", ".join(one.name for one in asked.fields) or "none"
        message = f"The server asks for values, not for a text. Its fields: {names}."
        raise deny("invalid_arguments", message) from None
    except InvalidArgumentsError as error:
        raise CallDenied(mismatch(error)) from None
