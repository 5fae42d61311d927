"""Write the question of a pending call: what would run, the file's text, the user's words."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolmd._call.checks import OF_WORDS
from toolmd._call.compiled import CompiledTool
from toolmd._types.approval import OpenApproval
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.confirmation import Confirmation
from toolmd._types.identity import values_of
from toolmd._types.verdict import Verdict
from toolmd._types.visible import call_text, visible
from toolmd._validation import read_object
from toolmd._validation.redact import hider, redacted
from toolmd.errors import hidden, hiding

MAX_WORDS = 400
"""The most characters of the user's words that a question shows, the last ones."""


INTERRUPTED = (
    "It was approved before, and its process ended without a result. Look whether it took effect:"
    " a yes runs it again. "
)


def prompt_of(
    call_spec: ToolCallSpec, shown: Mapping[str, Any], given: object, more: str = ""
) -> str:
    """Return `I'd like to create reminder: title: Walk, days: 1,2. Is this correct?`.

    Args:
        call_spec: The tool's.
        shown: The arguments with defaults, as the person may see them.
        given: What the call gave, an object or its JSON text; defaults are not named.
        more: Sentences below the arguments: the user's words, the reason.
    """
    names = given if isinstance(given, Mapping) else read_object(given)
    lists = {one.name for one in call_spec.parameters if one.shape.types == ("array",)}
    arguments = {name: shown[name] for name in shown if name in names}
    critical = call_spec.safety.sensitivity == "critical"
    return call_text(call_spec.name, arguments, lists, critical=critical, more=more)


class Question(NamedTuple):
    """What people see of a call that waits."""

    shown: Mapping[str, Any]
    """The arguments without Sensitive values."""
    prompt: str
    """The question without Sensitive values."""
    plain: str = ""
    """The question with them, for the caller and the approvers; empty where it has none."""


def show(
    tool: CompiledTool,
    call: Call,
    arguments: Mapping[str, Any],
    now: float,
    words: str = "",
    approvals: tuple[OpenApproval, ...] = (),
) -> Question:
    """Return what people see of a call at a time since the epoch, with the `words` of its user."""
    asked, spec = call.asked, tool.call_spec
    if asked is not None:
        return Question(asked.defaults, asked.prompt)
    values, texts = values_of(call, arguments), [one.text for one in approvals if one.text]
    if not approvals and spec.safety.text is not None:
        texts = [tool.approvals.fill(spec.safety.text, values)]
    words += tool.approvals.why(approvals, values, dt.datetime.fromtimestamp(now, dt.UTC))
    plain = " ".join((*texts, prompt_of(spec, arguments, call.arguments, words)))
    if not tool.holds_sensitive:
        return Question(dict(arguments), plain)
    shown = redacted(arguments, spec.parameters)
    masked = " ".join((*texts, prompt_of(spec, shown, call.arguments, words)))
    return Question(shown, masked, "" if plain == masked else plain)


def words_of(tool: CompiledTool, call: Call, arguments: Mapping[str, Any], verdict: Verdict) -> str:
    """Return the sentence with the user's words, where these are in doubt; else nothing."""
    codes = {verdict.code, *(one.code for one in verdict.details)}
    said = " ".join(" ".join((*call.caller.earlier, call.caller.message)).split())
    if not said or not codes & OF_WORDS:
        return ""
    with hiding(hider(arguments, tool.call_spec.parameters)):
        said = visible(hidden(said))
    return f" You said: “{said if len(said) <= MAX_WORDS else f'…{said[-MAX_WORDS:]}'}”."


def ask_again(one: Confirmation) -> Confirmation:
    """Return a confirmation with the reason why it is asked again, if it is."""
    if one.state != "interrupted":
        return one
    plain = one.plain and INTERRUPTED + one.plain
    return one._replace(prompt=INTERRUPTED + one.prompt, plain=plain)
