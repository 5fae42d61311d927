"""What people see of a pending call: its arguments, its question, and the edited call."""

import json
from collections.abc import Mapping
from typing import Any

from toolmd._call.checks import OF_WORDS
from toolmd._call.compiled import CompiledTool
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.confirmation import Confirmation
from toolmd._types.verdict import Verdict
from toolmd._validation import read_object
from toolmd._validation.redact import redacted
from toolmd.errors import hidden

MAX_WORDS = 400
"""The most characters of the user's words that a question shows, the last ones."""
NOT_YOURS = (
    "This call waits for an operator, not for the user who made it. Operators find it with"
    " `toolmd pending`, or on the console's page of pending calls."
)
INTERRUPTED = (
    "It was approved before, and its process ended without a result. Look whether it took effect:"
    " a yes runs it again. "
)


def shown_of(
    tool: CompiledTool, call: Call, arguments: Mapping[str, Any], words: str = ""
) -> tuple[Mapping[str, Any], str]:
    """Return what a person sees of a call: its arguments, and the question with the `words`."""
    asked, spec = call.asked, tool.call_spec
    if asked is not None:
        return asked.defaults, asked.prompt
    shown = redacted(arguments, spec.parameters)
    return shown, prompt_of(spec, shown, call.arguments, words)


def words_of(tool: CompiledTool, call: Call, arguments: Mapping[str, Any], verdict: Verdict) -> str:
    """Return the sentence with the user's words, where these are in doubt; else nothing."""
    codes = {verdict.code, *(one.code for one in verdict.details)}
    said = " ".join(" ".join((*call.caller.earlier, call.caller.message)).split())
    if not said or not codes & OF_WORDS:
        return ""
    with tool.hiding(arguments):
        said = hidden(said)
    return f" You said: “{said if len(said) <= MAX_WORDS else f'…{said[-MAX_WORDS:]}'}”."


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
    # It is another call than the one that its host named.
    key = call.key if call.is_of_a_run else None
    return call._replace(arguments={**call.arguments, **edit}, caller=caller, key=key)


def prompt_of(
    call_spec: ToolCallSpec, shown: Mapping[str, Any], given: object, words: str = ""
) -> str:
    """Return `I'd like to create reminder: title: Walk, days: 1,2. Is this correct?`.

    Args:
        call_spec: The tool's.
        shown: The arguments with defaults, without Sensitive values.
        given: What the call gave, an object or its JSON text; defaults are not named.
        words: A sentence with the user's words.
    """
    names = given if isinstance(given, Mapping) else read_object(given)
    told = ", ".join(f"{name}: {_told(shown[name])}" for name in shown if name in names)
    what = call_spec.name.replace("_", " ").replace("-", " ")
    critical = call_spec.safety.sensitivity == "critical"
    ending = "Please confirm these details are correct." if critical else "Is this correct?"
    return f"I'd like to {what}{': ' if told else ''}{told}.{words} {ending}"


def _told(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ",".join(_told(item) for item in value) or "none"
    return json.dumps(value, ensure_ascii=False)
