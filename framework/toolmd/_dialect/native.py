"""Read the calls of OpenAI, Anthropic and Gemini, and write results in their own forms."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolmd._dialect.calls import OURS, Readers, read_arguments, read_parts
from toolmd._dialect.envelope import decode_whole
from toolmd._dialect.results import body, body_text, content_parts
from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd.errors import MalformedReplyError

_PARTIAL = ("partialArgs", "partial_args", "willContinue", "will_continue")
"""The keys of one of Gemini's calls whose arguments come in pieces."""


def _chat_call(call: Any) -> Call:
    """Read one of a message's `tool_calls`."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or call.get("type", "function") != "function":
        raise MalformedReplyError("a tool call has the keys id, type (function) and function")
    return _openai_call(function, call.get("id"))


def _responses_call(item: Any) -> Call:
    """Read a Responses item of type `function_call`."""
    if not isinstance(item, dict) or item.get("type") != "function_call":
        raise MalformedReplyError("only items of type function_call can be called")
    return _openai_call(item, item.get("call_id") or item.get("id"))


def _openai_call(function: Mapping[str, Any], call_id: Any) -> Call:
    given = function.get("arguments")
    if isinstance(given, str) and given.strip():
        given = decode_whole(given)
    return read_parts(function.get("name"), read_arguments(given, "arguments"), call_id)


def _anthropic_call(block: Any) -> Call:
    """Read one `tool_use` block; the provider's own tools have another type."""
    arguments = read_arguments(block.get("input"), "input")
    return read_parts(block.get("name"), arguments, block.get("id"))


def _gemini_call(call: Any) -> Call:
    """Read one `functionCall`; without `args` it is a call without arguments."""
    if not isinstance(call, Mapping):
        raise MalformedReplyError("a functionCall has the keys name and args")
    if any(call.get(key) for key in _PARTIAL):
        raise MalformedReplyError("a functionCall is a piece of a stream: join the pieces first")
    return read_parts(call.get("name"), read_arguments(call.get("args"), "args"), call.get("id"))


READERS: Readers = {
    "openai": _chat_call,
    "openai-responses": _responses_call,
    "anthropic": _anthropic_call,
    "gemini": _gemini_call,
}
"""The reader of one call in each provider's form."""


def chat_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one message of role `tool` for each result, and a user's one with content parts.

    Messages of tools have only text.
    """
    told: list[dict[str, Any]] = [
        {"role": "tool", "tool_call_id": result.tool_call_id, "content": body_text(result)}
        for result in results
    ]
    content: list[dict[str, Any]] = []
    for result in (one for one in results if one.parts):
        call = f" (call {result.tool_call_id})" if result.tool_call_id else ""
        numbers = ", ".join(map(str, result.parts))
        text = f"Part {numbers} of what {result.tool}{call} returned:"
        content += [{"type": "text", "text": text}]
        content += content_parts(result.parts.values(), "openai")
    return [*told, {"role": "user", "content": content}] if content else told


def responses_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one `function_call_output` item for each result."""
    return [
        {"type": "function_call_output", "call_id": result.tool_call_id,
         "output": _content(result, "openai-responses", "input_text")}
        for result in results
    ]  # fmt: skip


def anthropic_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one user message with one `tool_result` block for each result."""
    blocks = [
        {"type": "tool_result", "tool_use_id": result.tool_call_id,
         "content": _content(result, "anthropic", "text"),
         **({} if result.success else {"is_error": True})}
        for result in results
    ]  # fmt: skip
    return [{"role": "user", "content": blocks}] if blocks else []


def _content(result: Result, provider: str, kind: str) -> str | list[dict[str, Any]]:
    text = body_text(result)
    if not result.parts:
        return text
    return [{"type": kind, "text": text}, *content_parts(result.parts.values(), provider)]


def gemini_results(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one content with a `functionResponse` for each result, in the order of the calls.

    Content parts follow.
    """
    parts = []
    for result in results:
        told = {"name": result.tool, "response": body(result)}
        # Some models give their calls no id; then the order identifies the call.
        own = result.tool_call_id
        told = told if own is None or own.startswith(OURS) else {"id": own, **told}
        parts.append({"functionResponse": told})
    for result in results:
        parts += content_parts(result.parts.values(), "gemini")
    return [{"role": "user", "parts": parts}] if parts else []
