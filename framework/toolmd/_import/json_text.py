"""JSON that people hand in: read whole, or refused with the place where it breaks."""

import json
from typing import Any

from toolmd.errors import ToolmdError

MAX_BYTES = 8 << 20


class UnreadableSourceError(ToolmdError):
    """The source is not what it was called; says where it breaks."""


def read_json(text: str) -> Any:
    """Give the value; raises UnreadableSourceError with line and column."""
    if len(text) > MAX_BYTES:
        raise UnreadableSourceError(f"over {MAX_BYTES >> 20} MiB: hand in the tools alone")
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise UnreadableSourceError(
            f"line {error.lineno}, column {error.colno}: no JSON: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise UnreadableSourceError(f"no JSON that can be read: {error}") from None
