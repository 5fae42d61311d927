"""JSON on the wire."""

import json
from typing import Any


def json_bytes(value: Any) -> bytes:
    """Write a JSON value; half of a surrogate pair, which UTF-8 has no bytes for, as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")
