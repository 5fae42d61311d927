"""The part of a result that a model reads: short, with a stable code, without the host's fields."""

import json
from typing import Any

from toolmd._types.result import Result

_HOST = frozenset({"attempts", "duration_ms", "confirmation", "crisis", "truncated"})
"""Omitted fields: measurements, the id for a person's decision, and flags that are false."""


def body(result: Result) -> dict[str, Any]:
    """Return the result as an object for the model (behaviour.md, "Result")."""
    shown = result._replace(parts={}).to_dict()
    read = {k: v for k, v in shown.items() if k not in _HOST}
    if any((truncated := shown.get("truncated", {})).values()):
        read["truncated"] = truncated
    if result.crisis:
        read["crisis"] = True
    if result.confirmation is not None:
        read["message"] = result.message or result.confirmation.prompt
    return read


def body_text(result: Result) -> str:
    """Return the body as compact JSON text."""
    return compact(body(result))


def compact(value: Any) -> str:
    """Return JSON on one line; other values are written as text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
