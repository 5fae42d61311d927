"""Parse calls in the text itself: `[TOOL_CALL:{…}]`, any number, anywhere."""

import json
from collections.abc import Sequence
from typing import Any

from toolmd._dialect.body import body, compact
from toolmd._dialect.calls import Keys, identified, parse_words, read_call, read_id
from toolmd._dialect.decoder import MAX_CALLS, decode, readable, skip, without_stretches
from toolmd._dialect.prompt import ShownCall, Syntax, teach_tools
from toolmd._dialect.quotes import Quotes
from toolmd._types.call import Call
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd.errors import MalformedReplyError

MARKER = "[TOOL_CALL:"
_MOST_NAMED = 256
"""The most ids that are read of a reply that can't be read as a whole."""
BLOCKED = "Tool call blocked by safety guardrails"
_NAMES = {"tool_call_id": "toolCallId"}
_KEYS = Keys("tool", "parameters", "id", "confidence")


def parse(reply: Any) -> Parsed:
    """Return the calls of a reply; quoted ones stay in the clean message (seed 001)."""
    return parse_words(reply, parse_text)


def parse_text(text: str) -> Parsed:
    """Return the calls in the assistant's own text, outside of quotations."""
    quotes = Quotes(text)
    spans: list[tuple[int, int]] = []
    calls: list[Call] = []
    named: dict[str, str] = {}
    fault, bad, at = "", 0, 0
    while (mark := text.find(MARKER, at)) >= 0:
        if quote := quotes.cover(mark):
            at = quote.end
            continue
        value, at = None, mark + len(MARKER)
        try:
            value, at = _object(text, at, len(spans))
            at = _end(text, at)
            calls.append(read_call(value, _KEYS))
        except MalformedReplyError as error:
            if not fault:
                fault, bad = f"call {len(spans) + 1}, at character {mark + 1}: {error}", mark
        said = value if isinstance(value, dict) else {}
        if (known := read_id(said.get("id"))) is not None:
            named.setdefault(known, said["tool"] if isinstance(said.get("tool"), str) else "")
        quotes.skip(at)
        if not fault:
            spans.append((mark, at))
        elif len(named) > _MOST_NAMED:
            break
    if fault:
        clean = without_stretches(text[:bad], spans)
        raise MalformedReplyError(fault, clean_message=clean, calls=[*named.items()])
    if not calls:
        return Parsed(readable(text))
    return Parsed(without_stretches(text, spans), identified(calls), "inline")


def render(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message, with a line `[TOOL_RESULT:{…}]` for each result."""
    lines = "\n".join(f"[TOOL_RESULT:{compact(_shown(result))}]" for result in results)
    return [{"role": "user", "content": lines}] if results else []


def _shown(result: Result) -> dict[str, Any]:
    """Return the result in the words of seed 001, section 1: `toolCallId`, and who blocked it."""
    shown = {_NAMES.get(name, name): value for name, value in body(result).items()}
    if result.outcome == "denied":
        shown["message"] = BLOCKED
    return shown


def teach(tools: Sequence[ToolSpec]) -> str:
    """Return the system prompt that teaches these tools and this syntax."""
    return teach_tools(tools, _SYNTAX)


def _object(text: str, start: int, before: int) -> tuple[Any, int]:
    """Return the JSON of a call with that many before it, and its end."""
    if before == MAX_CALLS:
        raise MalformedReplyError(f"more than {MAX_CALLS} calls in one reply")
    start = skip(text, start)
    if not text.startswith("{", start):
        raise MalformedReplyError(f"write {MARKER}{{…}}] with an object in it")
    return decode(text, start)


def _end(text: str, at: int) -> int:
    """Return the place after the bracket that closes a call."""
    at = skip(text, at)
    if not text.startswith("]", at):
        raise MalformedReplyError("no ] after the object")
    return at + 1


def _written(example: ShownCall) -> str:
    call = {
        "id": "call-1",
        "tool": example.tool,
        "parameters": example.arguments,
        "confidence": example.confidence,
    }
    return f"{MARKER}{json.dumps(call, ensure_ascii=False)}]"


_SYNTAX = Syntax(
    rules=f"""\
- To call a tool, write {MARKER}{{…}}] in your reply: an object with the keys `id` (a name of
  your own for the call), `tool`, `parameters` (an object, `{{}}` where there are none) and
  `confidence` (a number from 0 to 1: how sure you are that the user wants exactly this call).
  It may have no other keys.
- You may make several calls in one reply. They stand outside of code blocks, code spans and
  quotations: there they are text. The user does not see them.
- One call that can't be read cancels all calls of the reply.
- The results come as [TOOL_RESULT:{{…}}] in the next message. Never write one yourself.""",
    write=_written,
    has_confidence=True,
)

DIALECT = Dialect("inline", parse, render, teach)
