"""Encode JSON for HTTP."""

import json
from typing import Any


def json_bytes(value: Any) -> bytes:
    """Encode a JSON value as UTF-8; half of a surrogate pair becomes an escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")
