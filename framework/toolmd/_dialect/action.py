"""Parse the one `Action: {"tool": …, "args": …}` that ends a reply (seed 004)."""

import json
from collections.abc import Sequence
from typing import Any

from toolmd._dialect.body import body, compact
from toolmd._dialect.call_place import CallPlace, ends_reply, holds_alone, read_place
from toolmd._dialect.calls import Keys, parse_words, read_call
from toolmd._dialect.decoder import readable, skip
from toolmd._dialect.prompt import ShownCall, Syntax, teach_tools
from toolmd._dialect.quotes import Quotes
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd.errors import MalformedReplyError

MARKER = "Action:"
_KEYS = Keys("tool", "args")


def parse(reply: Any) -> Parsed:
    """Return the reply's terminal call, if it has one; text after it is an error."""
    return parse_words(reply, parse_text)


def parse_text(text: str) -> Parsed:
    """Return the terminal call of the assistant's own text."""
    place = find(text, strict=True)
    if place is None:
        return Parsed(readable(text))
    said = readable(text[: place.cut])
    try:
        call = read_call(read_place(text, place), _KEYS)
    except MalformedReplyError as error:
        raise MalformedReplyError(f"{MARKER} {error}", clean_message=said) from None
    return Parsed(said, (call,), "action")


def find(text: str, *, strict: bool) -> CallPlace | None:
    """Return the place of the call, or None.

    `strict` rejects near misses: the marker at the beginning of a line without an object, or a
    call in a fence with text after it.
    """
    quotes = Quotes(text)
    at, fenced = 0, None
    while (mark := text.find(MARKER, at)) >= 0:
        at = mark + len(MARKER)
        if quote := quotes.cover(mark):
            if holds_alone(text, quote, mark):
                start = skip(text, at)
                if ends_reply(text, quote):
                    return CallPlace(quote.start, start, quote)
                fenced = quote
            at = quote.end
        elif mark == 0 or not text[mark - 1].isalnum():
            quotes.spend(16)
            if place := _object_behind(text, mark, quotes):
                return place
            if strict and _begins_line(text, mark):
                said = readable(text[:mark])
                raise MalformedReplyError(f"no object after {MARKER}", clean_message=said)
    if strict and fenced is not None:
        said = readable(text[: fenced.start])
        raise MalformedReplyError("text after the call: it must end the reply", clean_message=said)
    return None


def _object_behind(text: str, mark: int, quotes: Quotes) -> CallPlace | None:
    start = skip(text, mark + len(MARKER))
    if text.startswith("{", start):
        return CallPlace(mark, start)
    if text.startswith(("```", "~~~"), start) and (fence := quotes.cover(start)):
        inner = skip(text, fence.inner)
        if fence.fenced and text.startswith("{", inner):
            return CallPlace(mark, inner, fence)
    return None


def _begins_line(text: str, mark: int) -> bool:
    return not text[text.rfind("\n", 0, mark) + 1 : mark].strip(" \t\r")


def render(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message for each result; an unknown tool is `{"error":"unknown_tool"}`.

    A call with a missing argument also has the status `error` (seed 004, "Error Handling").
    """
    return [{"role": "user", "content": _observed(result)} for result in results]


def _observed(result: Result) -> str:
    if result.error is not None and result.error.code == "unknown_tool":
        return compact({"error": "unknown_tool"})
    if result.error is not None and any(
        problem.code == "missing_argument" for problem in result.error.details
    ):
        return compact({"status": "error", **body(result)})
    return compact(body(result))


def teach(tools: Sequence[ToolSpec]) -> str:
    """Return the system prompt that teaches these tools and this syntax."""
    return teach_tools(tools, _SYNTAX)


def _written(example: ShownCall) -> str:
    call = {"tool": example.tool, "args": example.arguments}
    return f"{MARKER} {json.dumps(call, ensure_ascii=False)}"


_SYNTAX = Syntax(
    rules=f"""\
- To call a tool, end your reply with one block `{MARKER} {{…}}`: an object with the keys `tool`
  and `args` (an object, `{{}}` where there are none), and no others.
- Make one call in a reply and write nothing after it. Without a call, answer in words.
- The result is the next message. Never write one yourself.""",
    write=_written,
)

DIALECT = Dialect("action", parse, render, teach)
