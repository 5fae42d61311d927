"""What people see of a pending call, and the call as they edited it."""

import json
from collections.abc import Mapping
from typing import Any

from toolmd._call.compiled import CompiledTool
from toolmd._call.confirmation.prompt import prompt_of
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._validation.redact import redacted

NOT_YOURS = (
    "This call waits for an operator, not for the user who made it. Operators find it with"
    " `toolmd pending`, or on the console's page of pending calls."
)
INTERRUPTED = (
    "It was approved before, and its process ended without a result. Look whether it took effect:"
    " a yes runs it again. "
)


def shown_of(
    tool: CompiledTool, call: Call, arguments: Mapping[str, Any]
) -> tuple[Mapping[str, Any], str]:
    """Return what a person sees of a call: its arguments, and the question."""
    asked, spec = call.asked, tool.call_spec
    if asked is not None:
        return asked.defaults, asked.prompt
    shown = redacted(arguments, spec.parameters)
    return shown, prompt_of(spec, shown, call.arguments)


def asked_again(confirmation: Confirmation | None) -> Confirmation | None:
    """Return a confirmation with the reason why it is asked again, if it is."""
    if confirmation is None or confirmation.state != "interrupted":
        return confirmation
    return confirmation._replace(prompt=INTERRUPTED + confirmation.prompt)


def edited_call(call: Call, edit: Mapping[str, Any] | None) -> Call:
    """Return a call with the arguments that a person edited."""
    if not edit:
        return call
    assert isinstance(call.arguments, dict)
    # Values that the user typed into the form count as stated by the user.
    typed = json.dumps(dict(edit), ensure_ascii=False, default=str)
    caller = call.caller._replace(message=f"{call.caller.message}\n{typed}")
    return call._replace(arguments={**call.arguments, **edit}, caller=caller)
