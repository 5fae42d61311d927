"""The invariants of the readers of models' replies for any bytes."""

import json
from typing import Any

from markdown_it import MarkdownIt

from toolmd._dialect import DIALECTS, parse_reply
from toolmd._dialect.words import MARKER
from toolmd._types.turn import Parsed
from toolmd.errors import MalformedReplyError

NAMES = sorted(DIALECTS)
ARGUMENTS = ("parameters", "args", "params", "input", "arguments")
MOST_BYTES = 256 * 1024
MARKDOWN = MarkdownIt("commonmark")
SPOKEN = '[TOOL_CALL:{"tool":"t","parameters":{}}]'
DECODER = json.JSONDecoder(strict=False)


def one(data: bytes) -> None:
    """Check one reply; its first byte selects the dialect."""
    if not data:
        return
    dialect, raw = NAMES[data[0] % len(NAMES)], data[1:]
    text = raw.decode("utf-8", errors="replace").replace("\\ud800", "\ud800")
    parsed = read(text, dialect)
    held = everything(text) if parsed and parsed.calls else []
    if parsed is not None:
        sound(parsed, text, held)
        same(parsed, read(text, parsed.dialect) if parsed.dialect in DIALECTS else parsed)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    opened = read(value, dialect)
    if opened is not None:
        sound(opened, text, held or everything(text))


def read(reply: Any, dialect: str) -> Parsed | None:
    """Read a reply; return None if it is rejected with an allowed error."""
    try:
        return parse_reply(reply, dialect)
    except MalformedReplyError as raised:
        error = raised
    assert error.code in {"malformed_call", "invalid_plan"}
    str(error).encode(errors="surrogatepass")
    error.clean_message.encode()
    return None


def same(one_way: Parsed, other: Parsed | None) -> None:
    """Check that `auto` and the named dialect find the same calls."""
    assert other is not None, f"{one_way.dialect} by its name rejects the reply"
    # A call without an id of its own gets a new id each time that it is read.
    ways = [[(c.tool, c.arguments, c.confidence) for c in each.calls] for each in (one_way, other)]
    assert ways[0] == ways[1], f"{one_way.dialect} by its name reads other calls"


def sound(parsed: Parsed, text: str, held: list[Any]) -> None:
    """Check that each call is in the text, outside of quotations."""
    parsed.clean_message.encode()
    assert len(parsed.calls) <= 32
    assert not parsed.calls or len(text.encode(errors="surrogatepass")) <= MOST_BYTES
    for call in parsed.calls:
        json.dumps(call.arguments, allow_nan=False, ensure_ascii=False).encode()
        assert call.confidence is None or 0 <= call.confidence <= 1
        assert depth(call.arguments) <= 32
        given = call.arguments
        if call.confidence is not None and parsed.dialect != "inline":
            given = {**given, "_confidence": call.confidence}
        assert any(says(value, call.tool, given) for value in held), f"not in the reply: {call}"
    if parsed.dialect == "inline":
        outside(parsed, text)


def says(value: Any, tool: str, arguments: Any) -> bool:
    """Return whether a JSON object names this tool and these arguments."""
    if tool not in (value.get("tool"), value.get("name")):
        return False
    for key in ARGUMENTS:
        given = value.get(key)
        if isinstance(given, str):
            given = first(given)
        if given == arguments or (not arguments and given in (None, {})):
            return True
    return False


def everything(text: str) -> list[dict[str, Any]]:
    """Return every JSON object that begins at a brace of the text, and nested ones."""
    found: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        value = first(text[at:])
        if isinstance(value, dict):
            collect(value, found)
        at = text.find("{", at + 1)
    return found


def collect(value: Any, found: list[dict[str, Any]]) -> None:
    """Append every object within a value to the list."""
    if isinstance(value, dict):
        found.append(value)
        for item in value.values():
            collect(item, found)
    elif isinstance(value, list):
        for item in value:
            collect(item, found)


def first(text: str) -> Any:
    """Return the JSON value with which a text begins, or None."""
    try:
        return DECODER.raw_decode(text.lstrip(" \t\r\n"))[0]
    except (ValueError, RecursionError):
        return None


def depth(value: Any) -> int:
    """Count the levels of a JSON value."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    inner = max((depth(item) for item in items), default=0)
    return inner + isinstance(value, dict | list)


def outside(parsed: Parsed, text: str) -> None:
    """Check that each inline call is outside fences and quotations, as CommonMark defines them."""
    text = text.removeprefix("\ufeff").replace("\r\n", " \n").replace("\r", "\n")
    lines: set[int] = set()
    tokens = MARKDOWN.parse(text)
    if any(token.type == "fence" and token.level for token in tokens):
        return  # in a list, authors close a fence further left than CommonMark does
    for token in tokens:
        if token.type in {"fence", "blockquote_open"} and token.map:
            lines.update(range(*token.map))
    if not lines:
        return
    free = []
    at = text.find(MARKER)
    while at >= 0:
        if text.count("\n", 0, at) not in lines:
            free.append(first(text[at + len(MARKER) :]))
        at = text.find(MARKER, at + 1)
    for call in parsed.calls:
        assert any(isinstance(value, dict) and value.get("tool") == call.tool for value in free), (
            f"{call} is only in a quotation"
        )
