"""What a model reads of a result: short, with a stable code, and nothing that is the host's."""

import json
from typing import Any

from toolmd._types.result import Result

_HOST = frozenset({"attempts", "duration_ms", "confirmation", "crisis", "truncated"})
"""Left out: measures, the id with which a person decides, and flags that say no."""


def body(result: Result) -> dict[str, Any]:
    """Give the result as an object for the model (behaviour.md, "Result")."""
    shown = result.to_dict()
    read = {k: v for k, v in shown.items() if k not in _HOST}
    if result.truncated is not None and any(result.truncated.values()):
        read["truncated"] = result.truncated
    if result.crisis:
        read["crisis"] = True
    if result.confirmation is not None:
        read["message"] = result.message or result.confirmation.prompt
    return read


def body_text(result: Result) -> str:
    """Give the body as compact JSON text."""
    return compact(body(result))


def compact(value: Any) -> str:
    """Give JSON on one line; a value that JSON can't hold is shown as its text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
