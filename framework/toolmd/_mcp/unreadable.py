"""Answer the messages of a host that can't be read: each request gets an answer."""

from collections.abc import Iterator
from typing import Any

from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCResponse

from toolmd._mcp.results import denial
from toolmd._types.result import Failure, Result
from toolmd._validation import MalformedError, read_object
from toolmd._validation.strict_json import (
    MAX_DEPTH,
    JsonError,
    RepeatedKeyError,
    decode_loosely,
    read_json,
)

WITHIN = 8
"""The levels of a message around the arguments of a call."""
Answer = JSONRPCError | JSONRPCResponse


def read_message(text: str) -> dict[str, Any] | Answer | None:
    """Return a message, the answer to one that is none or can't be read, or None if it is deep."""
    try:
        message: Any = read_object(text)
    except MalformedError:
        try:
            message = read_json(text, depth=MAX_DEPTH + WITHIN)
        except JsonError as error:
            return _answer(dict(_members(text)), error)
        if isinstance(message, dict):
            return None
    if isinstance(message, dict) and _is_valid(message):
        return message
    name = _id_of(message) if isinstance(message, dict) else None
    about = "Invalid Request: it needs jsonrpc 2.0, a method, an id that is a text or an integer"
    error_data = ErrorData(code=INVALID_REQUEST, message=f"{about}, and params that are an object")
    return JSONRPCError(jsonrpc="2.0", id=name, error=error_data)


def _is_valid(message: dict[str, Any]) -> bool:
    """Return whether a message is a request or a notification, or what never has an answer."""
    if "method" not in message and ("result" in message or "error" in message):
        return True
    return (
        message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and ("id" not in message or _id_of(message) is not None)
        and isinstance(message.get("params"), dict | None)
    )


def _id_of(message: dict[str, Any]) -> str | int | None:
    name = message.get("id")
    return name if isinstance(name, str | int) and not isinstance(name, bool) else None


def _answer(known: dict[str, Any], error: JsonError) -> Answer:
    name = _id_of(known)
    params = known.get("params")
    if isinstance(error, RepeatedKeyError) and isinstance(params, dict) and name is not None:
        failure = Failure("malformed_call", str(error))
        tool = str(params.get("name", ""))
        denied = denial(Result(success=False, tool=tool, outcome="denied", error=failure))
        return JSONRPCResponse(jsonrpc="2.0", id=name, result=denied)
    parse_error = ErrorData(code=PARSE_ERROR, message=f"Parse error: {error}")
    return JSONRPCError(jsonrpc="2.0", id=name, error=parse_error)


def _members(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object up to the first that can't be read."""
    at = text.find("{")
    while at >= 0:
        key = decode_loosely(text, _after_space(text, at + 1))
        if key is None or not isinstance(key[0], str):
            return
        colon = _after_space(text, key[1])
        value = decode_loosely(text, _after_space(text, colon + 1))
        if value is None:
            return
        yield key[0], value[0]
        at = _after_space(text, value[1])
        if text[at : at + 1] != ",":
            return


def _after_space(text: str, at: int) -> int:
    return at + len(text[at:]) - len(text[at:].lstrip())
