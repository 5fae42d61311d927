"""Read OpenAI's tool calls, of chat and of Responses, and write results in either form."""

from collections.abc import Mapping, Sequence
from typing import Any

from toolmd._dialect.attached import for_chat, for_responses
from toolmd._dialect.body import body_text
from toolmd._dialect.calls import parse_native, read_arguments, read_parts
from toolmd._dialect.decoder import decode_whole
from toolmd._types.call import Call
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import Result
from toolmd.errors import MalformedReplyError


def parse(reply: Any) -> Parsed:
    """Return the calls of a chat completion or a Responses answer, its message, or its items."""
    return parse_native(reply, {"openai": read_chat, "openai-responses": read_item})


def read_chat(call: Any) -> Call:
    """Read one of a message's `tool_calls`."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or call.get("type", "function") != "function":
        raise MalformedReplyError("a tool call has the keys id, type (function) and function")
    return _call(function, call.get("id"))


def read_item(item: Any) -> Call:
    """Read a Responses item of type `function_call`."""
    if not isinstance(item, dict) or item.get("type") != "function_call":
        raise MalformedReplyError("only items of type function_call can be called")
    return _call(item, item.get("call_id") or item.get("id"))


def render_chat(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one message of role `tool` for each result, and one with all content parts."""
    told = [
        {"role": "tool", "tool_call_id": result.tool_call_id, "content": body_text(result)}
        for result in results
    ]
    return [*told, *for_chat(results)]


def render_items(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return one `function_call_output` item for each result."""
    return [
        {
            "type": "function_call_output",
            "call_id": result.tool_call_id,
            "output": _output(result),
        }
        for result in results
    ]


def _output(result: Result) -> str | list[dict[str, Any]]:
    text = body_text(result)
    if not result.parts:
        return text
    return [{"type": "input_text", "text": text}, *for_responses(result.parts.values())]


def _call(function: Mapping[str, Any], call_id: Any) -> Call:
    return read_parts(function.get("name"), _arguments(function.get("arguments")), call_id)


def _arguments(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str) and value.strip():
        value = decode_whole(value)
    return read_arguments(value, "arguments")


CHAT = Dialect("openai", parse, render_chat)
RESPONSES = Dialect("openai-responses", parse, render_items)
