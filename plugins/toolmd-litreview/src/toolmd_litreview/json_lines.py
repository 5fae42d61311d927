"""Write JSON Lines that every reader parts into the same lines."""

import json
from typing import Any

# Unicode calls these line ends too, and many readers part text at them.
_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}


def line(row: Any) -> str:
    """Give a row as one line of JSON, without its end."""
    return json.dumps(row, ensure_ascii=False).translate(_ENDS)
