"""Convert models' replies to calls and results to messages: one row per dialect."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from toolmd._dialect import native, words
from toolmd._dialect.calls import parse_foreign, parse_native
from toolmd._dialect.envelope import ReplyKind
from toolmd._dialect.prompt import teach
from toolmd._dialect.results import body_text
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd.errors import NotFoundError


def _native(*kinds: ReplyKind) -> Any:
    return partial(parse_native, readers={kind: native.READERS[kind] for kind in kinds})


_OPENAI = _native("openai", "openai-responses")
_ROWS = (
    Dialect("auto", words.parse_auto, native.chat_results),
    Dialect("openai", _OPENAI, native.chat_results),
    Dialect("openai-responses", _OPENAI, native.responses_results),
    Dialect("anthropic", _native("anthropic"), native.anthropic_results),
    Dialect("gemini", _native("gemini"), native.gemini_results),
    Dialect("inline", words.parse_inline, words.inline_results, partial(teach, "inline")),
    Dialect("action", words.parse_action, words.action_results, partial(teach, "action")),
    Dialect("plan", words.parse_plan, words.plan_results, partial(teach, "plan")),
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
    return found.parse(reply) if DIALECTS.get(dialect) is found else parse_foreign(found, reply)


def render_results(
    results: Sequence[Result],
    dialect: str,
    dialects: Mapping[str, Dialect] = DIALECTS,
    custom: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return the messages to append for results; `dialect` is the one that `Parsed` names.

    `custom` are the ids of custom tool calls, which MalformedReplyError names.
    """
    told = find_dialect("auto" if dialect == "text" else dialect, dialects).render(results)
    for message in told if custom else ():
        if message.get("call_id") in custom:
            message["type"] = "custom_tool_call_output"
    return told


def render_denial(
    result: Result, dialect: str, dialects: Mapping[str, Dialect] = DIALECTS
) -> list[dict[str, Any]]:
    """Return the denial of a whole reply as a user message: none of its calls has an answer."""
    found = find_dialect(dialect, dialects)
    if found.teach is not None:
        return found.render([result])
    text = body_text(result)
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
