"""Convert models' replies to calls and results to messages: one row per dialect."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from toolmd._dialect import results, words
from toolmd._dialect.calls import MAX_CALLS, read_confidence
from toolmd._dialect.envelope import ReplyKind, decode_bytes, deny_size, open_reply, read_envelope
from toolmd._dialect.prompt import teach
from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd._types.turn import Dialect, Parsed
from toolmd.errors import MalformedReplyError, NotFoundError


def _native(*kinds: ReplyKind) -> Callable[[Any], Parsed]:
    return lambda reply: read_envelope(open_reply(reply), kinds)


_OPENAI = _native("openai", "openai-responses")
_ROWS = (
    Dialect("auto", words.parse_auto, results.chat_results),
    Dialect("openai", _OPENAI, results.chat_results),
    Dialect("openai-responses", _OPENAI, results.responses_results),
    Dialect("anthropic", _native("anthropic"), results.anthropic_results),
    Dialect("gemini", _native("gemini"), results.gemini_results),
    Dialect(
        "inline",
        partial(words.parse_words, words.inline),
        results.inline_results,
        partial(teach, "inline"),
    ),
    Dialect(
        "action",
        partial(words.parse_words, words.action),
        results.action_results,
        partial(teach, "action"),
    ),
    Dialect("plan", words.parse_plan, results.plan_results, partial(teach, "plan")),
)
DIALECTS: Mapping[str, Dialect] = MappingProxyType({row.name: row for row in _ROWS})
"""The built-in dialects by name: the parser of a reply, the form of results, and the prompt.

See behaviour.md, "Dialects".
"""


def parse_reply(
    reply: Any, dialect: str = "auto", dialects: Mapping[str, Dialect] = DIALECTS
) -> Parsed:
    """Parse a model's reply into its clean message and its calls.

    `reply` is text, JSON text, bytes, a dict, a list, or a provider's object with `model_dump`.
    Raises MalformedReplyError (one bad call rejects all), NotFoundError for an unknown dialect,
    and for a plugin's dialect its own exceptions.
    """
    found = find_dialect(dialect, dialects)
    return found.parse(reply) if DIALECTS.get(dialect) is found else _parse_foreign(found, reply)


def _parse_foreign(dialect: Dialect, reply: Any) -> Parsed:
    """Return what a plugin's dialect reads; raises TypeError for another type."""
    if isinstance(reply := decode_bytes(reply), str):
        deny_size(reply)
    parsed: Any = dialect.parse(reply)
    if not isinstance(parsed, Parsed) or not all(isinstance(c, Call) for c in parsed.calls):
        raise TypeError(f"the dialect {dialect.name} did not return a Parsed with Calls")
    clean = parsed.clean_message
    if len(parsed.calls) > MAX_CALLS:
        raise MalformedReplyError(f"more than {MAX_CALLS} calls", clean_message=clean)
    for number, call in enumerate(parsed.calls, 1):
        try:
            if call.confidence is not None:
                read_confidence(call.confidence, "confidence")
        except MalformedReplyError as error:
            raise MalformedReplyError(f"call {number}: {error}", clean_message=clean) from None
    return parsed


def render_results(
    told: Sequence[Result],
    dialect: str,
    dialects: Mapping[str, Dialect] = DIALECTS,
    custom: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return the messages that tell results; `dialect` is the one that `Parsed` names.

    `custom` are the ids of custom tool calls, which MalformedReplyError names.
    """
    made = find_dialect("auto" if dialect == "text" else dialect, dialects).render(told)
    for message in made if custom else ():
        if message.get("call_id") in custom:
            message["type"] = "custom_tool_call_output"
    return made


def render_denial(
    result: Result, dialect: str, dialects: Mapping[str, Dialect] = DIALECTS
) -> list[dict[str, Any]]:
    """Return the denial of a whole reply as a user message: none of its calls has an answer."""
    found = find_dialect(dialect, dialects)
    if found.teach is not None:
        return found.render([result])
    text = results.body_text(result)
    if found.name == "gemini":
        return [{"role": "user", "parts": [{"text": text}]}]
    return [{"role": "user", "content": text}]


def system_prompt(
    tools: Sequence[ToolSpec], dialect: str, dialects: Mapping[str, Dialect] = DIALECTS
) -> str:
    """Return the prompt that teaches a text dialect; empty for a native one."""
    teach = find_dialect(dialect, dialects).teach
    return teach(tools) if teach is not None else ""


def find_dialect(name: str, dialects: Mapping[str, Dialect] = DIALECTS) -> Dialect:
    """Return the dialect of this name."""
    if (dialect := dialects.get(name)) is None:
        raise NotFoundError(f"no dialect {name!r}: there are {', '.join(dialects)}")
    return dialect
