"""Read JSON from a user, or report the place of its error."""

import json
from typing import Any

from toolmd.errors import ToolmdError

MAX_BYTES = 8 << 20


class UnreadableSourceError(ToolmdError):
    """The source can't be read; the message has the place of the error."""


def read_json(text: str) -> Any:
    """Return the value; raises UnreadableSourceError with line and column."""
    if len(text) > MAX_BYTES:
        raise UnreadableSourceError(f"over {MAX_BYTES >> 20} MiB: pass only the tools")
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise UnreadableSourceError(
            f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise UnreadableSourceError(f"not valid JSON: {error}") from None
