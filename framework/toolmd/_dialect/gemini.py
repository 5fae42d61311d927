"""Read Gemini's `functionCall` parts and write results as `functionResponse` parts."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolmd._dialect.attached import for_gemini
from toolmd._dialect.body import body
from toolmd._dialect.calls import OURS, parse_native, read_arguments, read_parts
from toolmd._types.call import Call
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd.errors import MalformedReplyError

_PARTIAL = ("partialArgs", "partial_args", "willContinue", "will_continue")
"""The keys of a call whose arguments come in pieces."""


def parse(reply: Any) -> Parsed:
    """Return the calls of an answer, or of one content of the role `model`."""
    return parse_native(reply, {"gemini": read_function})


def read_function(call: Any) -> Call:
    """Read one `functionCall`; without `args` it is a call without arguments."""
    if not isinstance(call, Mapping):
        raise MalformedReplyError("a functionCall has the keys name and args")
    if any(call.get(key) for key in _PARTIAL):
        raise MalformedReplyError("a functionCall is a piece of a stream: join the pieces first")
    return read_parts(call.get("name"), read_arguments(call.get("args"), "args"), call.get("id"))


def render(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one content with a `functionResponse` for each result, in the order of the calls.

    Content parts follow.
    """
    parts = [{"functionResponse": _response(result)} for result in results]
    for result in results:
        parts += for_gemini(result.parts.values())
    return [{"role": "user", "parts": parts}] if parts else []


def say(text: str) -> dict[str, Any]:
    """Return a text as a content of the user."""
    return {"role": "user", "parts": [{"text": text}]}


def _response(result: Result) -> dict[str, Any]:
    told = {"name": result.tool, "response": body(result)}
    # Some models give their calls no id; then the order identifies the call.
    own = result.tool_call_id
    return told if own is None or own.startswith(OURS) else {"id": own, **told}


DIALECT = Dialect("gemini", parse, render)
