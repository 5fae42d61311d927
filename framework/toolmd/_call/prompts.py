"""Write the question of a pending call: what would run, the file's text, the user's words."""

from collections.abc import Mapping
from typing import Any

from toolmd._call.checks import OF_WORDS
from toolmd._call.compiled import CompiledTool
from toolmd._types.approval import OpenApproval
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.identity import values_of
from toolmd._types.verdict import Verdict
from toolmd._types.visible import value_text, visible
from toolmd._validation import read_object
from toolmd._validation.redact import redacted
from toolmd.errors import hidden

MAX_WORDS = 400
"""The most characters of the user's words that a question shows, the last ones."""


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
    lists = {one.name for one in call_spec.parameters if one.shape.types == ("array",)}
    told = ", ".join(f"{name}: {value_text(shown[name], is_list=name in lists)}"
                     for name in shown if name in names)  # fmt: skip
    what = call_spec.name.replace("_", " ").replace("-", " ")
    critical = call_spec.safety.sensitivity == "critical"
    ending = "Please confirm these details are correct." if critical else "Is this correct?"
    return f"I'd like to {what}{': ' if told else ''}{told}.{words} {ending}"


def show(
    tool: CompiledTool,
    call: Call,
    arguments: Mapping[str, Any],
    words: str = "",
    approvals: tuple[OpenApproval, ...] = (),
) -> tuple[Mapping[str, Any], str]:
    """Return what a person sees of a call: its arguments, and the question with the `words`."""
    asked, spec = call.asked, tool.call_spec
    if asked is not None:
        return asked.defaults, asked.prompt
    shown = redacted(arguments, spec.parameters) if tool.holds_sensitive else dict(arguments)
    texts = [one.text for one in approvals if one.text]
    if not approvals and spec.safety.text is not None:
        texts = [tool.approvals.fill(spec.safety.text, values_of(call, arguments))]
    return shown, " ".join((*texts, prompt_of(spec, shown, call.arguments, words)))


def words_of(tool: CompiledTool, call: Call, arguments: Mapping[str, Any], verdict: Verdict) -> str:
    """Return the sentence with the user's words, where these are in doubt; else nothing."""
    codes = {verdict.code, *(one.code for one in verdict.details)}
    said = " ".join(" ".join((*call.caller.earlier, call.caller.message)).split())
    if not said or not codes & OF_WORDS:
        return ""
    with tool.hiding(arguments):
        said = hidden(said)
    said = visible(said)
    return f" You said: “{said if len(said) <= MAX_WORDS else f'…{said[-MAX_WORDS:]}'}”."
