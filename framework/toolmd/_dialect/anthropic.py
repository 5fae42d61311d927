"""Read Anthropic's `tool_use` blocks and write results as `tool_result` blocks."""

from collections.abc import Sequence
from typing import Any

from toolmd._dialect.attached import for_anthropic
from toolmd._dialect.body import body_text
from toolmd._dialect.calls import parse_native, read_arguments, read_parts
from toolmd._types.call import Call
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result


def parse(reply: Any) -> Parsed:
    """Return the calls of a message, its content, or a single block."""
    return parse_native(reply, {"anthropic": read_block})


def read_block(block: Any) -> Call:
    """Read one `tool_use` block; the provider's own tools have another type."""
    arguments = read_arguments(block.get("input"), "input")
    return read_parts(block.get("name"), arguments, block.get("id"))


def render(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message with one block per result."""
    blocks: list[dict[str, Any]] = []
    for result in results:
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": result.tool_call_id,
            "content": _content(result),
        }
        blocks.append(block if result.success else {**block, "is_error": True})
    return [{"role": "user", "content": blocks}] if blocks else []


def _content(result: Result) -> str | list[dict[str, Any]]:
    text = body_text(result)
    if not result.parts:
        return text
    return [{"type": "text", "text": text}, *for_anthropic(result.parts.values())]


DIALECT = Dialect("anthropic", parse, render)
