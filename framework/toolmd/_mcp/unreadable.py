"""Answer the messages of a host that can't be read: each request gets an answer."""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

import anyio
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCResponse

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


def answer_unreadable(text: str) -> Answer | None:
    """Return the answer to a message that can't be read; None for one that can."""
    try:
        read_object(text)
    except MalformedError:
        try:
            read_json(text, depth=MAX_DEPTH + WITHIN)
        except JsonError as error:
            return _answer(dict(_members(text)), error)
    return None


def _answer(known: dict[str, Any], error: JsonError) -> Answer:
    name = known.get("id")
    name = name if isinstance(name, str | int) and not isinstance(name, bool) else None
    params = known.get("params")
    if isinstance(error, RepeatedKeyError) and isinstance(params, dict) and name is not None:
        failure = Failure("malformed_call", str(error))
        tool = str(params.get("name", ""))
        denied = denial(Result(success=False, tool=tool, outcome="denied", error=failure))
        result = denied.model_dump(by_alias=True, mode="json", exclude_none=True)
        return JSONRPCResponse(jsonrpc="2.0", id=name, result=result)
    told = ErrorData(code=PARSE_ERROR, message=f"Parse error: {error}")
    return JSONRPCError(jsonrpc="2.0", id=name, error=told)


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


class Lines:
    """The lines of standard input that are messages; the others are answered."""

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = anyio.wrap_file(file)
        self.answer: Callable[[Answer], Awaitable[None]] | None = None
        """Sends an answer to the host."""

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            if not line.strip():
                continue
            found = answer_unreadable(line)
            if found is None:
                yield line
            elif self.answer is not None:
                await self.answer(found)


@contextmanager
def own_input() -> Iterator[Lines]:
    """Open standard input for the protocol alone: tools and their programs get an empty one."""
    try:
        number = sys.stdin.fileno()
    except (OSError, ValueError):
        yield Lines(TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace"))
        return
    kept = os.dup(number)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, number)
    os.close(nothing)
    try:
        # A thread may still read when the server has ended, so nothing closes the file.
        file = os.fdopen(kept, "rb", closefd=False)
        yield Lines(TextIOWrapper(file, encoding="utf-8", errors="replace"))
    finally:
        os.dup2(kept, number)
