"""Read JSON from a user, or report the place of its error."""

from typing import Any

from toolmd._validation.strict_json import JsonError
from toolmd._validation.strict_json import read_json as read_strictly
from toolmd.errors import ToolmdError

MAX_BYTES = 8 << 20
_MAX_DEPTH = 256


class UnreadableSourceError(ToolmdError):
    """The source can't be read; the message has the place of the error."""


def read_json(text: str) -> Any:
    """Return the value; raises UnreadableSourceError with line and column.

    A key that occurs twice in an object is an error: one of both may restrict.
    """
    if len(text) > MAX_BYTES:
        raise UnreadableSourceError(f"over {MAX_BYTES >> 20} MiB: pass only the tools")
    try:
        return read_strictly(text.removeprefix("\ufeff"), depth=_MAX_DEPTH, halves=True)
    except JsonError as error:
        raise UnreadableSourceError(
            f"line {error.line}, column {error.column}: not valid JSON: {error.reason}"
        ) from None
