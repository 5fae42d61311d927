"""Write JSON Lines that every reader splits into the same lines."""

import json
from typing import Any

# Unicode also counts these as line ends, and many readers split text there.
_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}


def line(row: Any) -> str:
    """Return a row as one line of JSON, without its line end."""
    return json.dumps(row, ensure_ascii=False).translate(_ENDS)
