"""Encode JSON for HTTP."""

import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def json_bytes(value: Any) -> bytes:
    """Encode a JSON value as UTF-8; an unpaired surrogate becomes an escape."""
    return _encode(value).encode("utf-8", "backslashreplace")
