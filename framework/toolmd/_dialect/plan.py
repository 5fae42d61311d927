"""Parse a plan: one call, or several under a budget, as JSON that ends the reply (seed 002)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolmd._dialect.body import body, compact
from toolmd._dialect.call_place import CallPlace, ends_reply, holds_alone, read_place
from toolmd._dialect.calls import Keys, parse_words, read_call
from toolmd._dialect.decoder import MAX_CALLS, readable, skip
from toolmd._dialect.envelope import open_reply
from toolmd._dialect.prompt import ShownCall, Syntax, teach_tools
from toolmd._dialect.quotes import Quotes
from toolmd._types.call import Budget, Call
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd.errors import MalformedReplyError

_KEYS = Keys("tool", "params")
_PLAN = {"calls", "budget"}
_BLANK = " \t\r\n"


def parse(reply: Any) -> Parsed:
    """Return the plan's calls, each with the plan's budget; a plan needs a budget."""
    if isinstance(reply, Mapping) and is_plan(reply):
        return Parsed("", read_plan(open_reply(reply).value), "plan")
    return parse_words(reply, parse_text)


def parse_text(text: str) -> Parsed:
    """Return the plan that ends the assistant's own text, if it has one."""
    place = find(text)
    if place is None:
        return Parsed(readable(text))
    said = readable(text[: place.cut])
    try:
        calls = read_plan(read_place(text, place))
    except MalformedReplyError as error:
        raise MalformedReplyError(str(error), code=error.code, clean_message=said) from None
    return Parsed(said, calls, "plan")


def find(text: str) -> CallPlace | None:
    """Return the place of the plan: an object at the beginning of a line, or alone in a fence."""
    quotes = Quotes(text)
    at = 0
    while (mark := text.find("{", at)) >= 0:
        after = text.find("\n", mark) + 1 or len(text)
        quotes.spend(2)
        if not _begins_object(text, mark, at):
            at = after
        elif quote := quotes.cover(mark):
            if holds_alone(text, quote, mark) and ends_reply(text, quote):
                return CallPlace(quote.start, mark, quote)
            at = text.find("\n", quote.end - 1) + 1 or len(text)
        else:
            return CallPlace(mark, mark)
    return None


def _begins_object(text: str, mark: int, since: int) -> bool:
    """Return whether the brace begins its line, and a key or the closing brace follows."""
    if mark > since and text[mark - 1] not in _BLANK:
        return False
    begin = text.rfind("\n", since, mark) + 1 or since
    if text[begin:mark].strip(_BLANK):
        return False
    return text.startswith(('"', "}"), skip(text, mark + 1))


def is_plan(value: Any) -> bool:
    """Return whether a JSON value is meant as a plan."""
    return isinstance(value, Mapping) and ("calls" in value or {"tool", "params"} <= value.keys())


def read_plan(value: Any) -> tuple[Call, ...]:
    """Return the calls of `{"tool", "params"}` or `{"calls", "budget"}`."""
    if not isinstance(value, dict) or not value.keys() & _PLAN:
        return (read_call(value, _KEYS),)
    raw = value.get("calls")
    if value.keys() - _PLAN or not isinstance(raw, list):
        raise MalformedReplyError("a plan is an object with the keys calls (a list) and budget")
    if len(raw) > MAX_CALLS:
        raise MalformedReplyError(f"more than {MAX_CALLS} calls in one plan")
    calls = [_numbered(item, number) for number, item in enumerate(raw, 1)]
    budget = _budget(value.get("budget"))
    return tuple(call._replace(budget=budget) for call in calls)


def _numbered(value: Any, number: int) -> Call:
    try:
        return read_call(value, _KEYS)
    except MalformedReplyError as error:
        raise MalformedReplyError(f"call {number}: {error}") from None


def _budget(value: Any) -> Budget:
    fields = Budget._fields
    if not isinstance(value, dict) or value.keys() != set(fields):
        raise MalformedReplyError(
            f"a plan needs a budget with the keys {', '.join(fields)}", code="invalid_plan"
        )
    for key in fields:
        if type(value[key]) is not int or value[key] < 1:
            raise MalformedReplyError(
                f"budget.{key} must be an integer of at least 1", code="invalid_plan"
            )
    return Budget(**value)


def render(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message with all results, in the order of the calls."""
    if not results:
        return []
    return [{"role": "user", "content": compact({"results": [body(r) for r in results]})}]


def teach(tools: Sequence[ToolSpec]) -> str:
    """Return the system prompt that teaches these tools and this syntax."""
    return teach_tools(tools, _SYNTAX)


def _written(example: ShownCall) -> str:
    return json.dumps({"tool": example.tool, "params": example.arguments}, ensure_ascii=False)


_SYNTAX = Syntax(
    rules="""\
- To call one tool, end your reply with an object {"tool": …, "params": {…}}, with no other keys.
- To call several, end it with a plan {"calls": [{"tool": …, "params": {…}}, …],
  "budget": {"rows": …, "bytes": …, "timeout_ms": …}}. The budget is needed: integers from 1 on,
  for each of the calls.
- Write nothing after it. Without a call, answer in words.
- The next message holds {"results": […]}, in the order of the calls. Never write one yourself.""",
    write=_written,
)

DIALECT = Dialect("plan", parse, render, teach)
