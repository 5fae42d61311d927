"""Detect the dialect of a reply, and parse the reply with it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from toolmd._dialect import action, anthropic, gemini, inline, openai, plan
from toolmd._dialect.call_place import read_place
from toolmd._dialect.calls import Readers, read_envelope
from toolmd._dialect.envelope import open_reply
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd.errors import MalformedReplyError

T = TypeVar("T")
_READERS: Readers = {
    "openai": openai.read_chat,
    "openai-responses": openai.read_item,
    "anthropic": anthropic.read_block,
    "gemini": gemini.read_function,
}


def parse(reply: Any) -> Parsed:
    """Return the calls of a reply in any dialect; native calls precede those in text."""
    envelope = open_reply(reply)
    if envelope.kind == "json" and plan.is_plan(envelope.value):
        return Parsed("", _in("plan", plan.read_plan, envelope.value), "plan")
    if envelope.kind == "text":
        return _spoken(envelope.text)
    detected = envelope.kind if envelope.kind in _READERS else ""
    return _in(detected, read_envelope, envelope, _READERS)


def _in(dialect: str, read: Callable[..., T], *given: Any) -> T:
    """Return what `read` does; the error of a malformed call names the dialect."""
    try:
        return read(*given)
    except MalformedReplyError as error:
        error.dialect = dialect or error.dialect
        raise


def _spoken(text: str) -> Parsed:
    """Parse the assistant's text: inline calls first, then a terminal call."""
    if (parsed := _in("inline", inline.parse_text, text)).calls:
        return parsed
    if action.find(text, strict=False) is not None:
        return _in("action", action.parse_text, text)
    if (place := plan.find(text)) is not None and _is_plan(text, place):
        return _in("plan", plan.parse_text, text)
    return parsed


def _is_plan(text: str, place: Any) -> bool:
    try:
        return plan.is_plan(read_place(text, place))
    except MalformedReplyError:
        # Broken JSON counts as a plan only if it begins like one.
        head = "".join(text[place.start : place.start + 64].split())
        return head.startswith(('{"tool":', '{"calls":', '{"budget":'))


def render(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return results in the form that any chat model accepts."""
    return openai.render_chat(results)


DIALECT = Dialect("auto", parse, render)
