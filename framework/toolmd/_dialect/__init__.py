"""Convert models' replies to calls and results to messages, one file per dialect."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toolmd._dialect import action, anthropic, auto, gemini, inline, openai, plan
from toolmd._dialect.body import body_text
from toolmd._dialect.foreign import parse_foreign
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd.errors import NotFoundError

DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        dialect.name: dialect
        for dialect in (
            auto.DIALECT,
            openai.CHAT,
            openai.RESPONSES,
            anthropic.DIALECT,
            gemini.DIALECT,
            inline.DIALECT,
            action.DIALECT,
            plan.DIALECT,
        )
    }
)
"""The built-in dialects by name (behaviour.md, "Dialects")."""


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
    results: Sequence[Result], dialect: str, dialects: Mapping[str, Dialect] = DIALECTS
) -> list[dict[str, Any]]:
    """Return the messages to append for results; `dialect` is the one that `Parsed` names."""
    return find_dialect("auto" if dialect == "text" else dialect, dialects).render(results)


def render_denial(
    result: Result, dialect: str, dialects: Mapping[str, Dialect] = DIALECTS
) -> list[dict[str, Any]]:
    """Return the denial of a whole reply as a user message: none of its calls has an answer."""
    found = find_dialect(dialect, dialects)
    if found.teach is not None:
        return found.render([result])
    if found is gemini.DIALECT:
        return [gemini.say(body_text(result))]
    return [{"role": "user", "content": body_text(result)}]


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
