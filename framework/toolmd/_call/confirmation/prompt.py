"""Format the question whether a call may run; it names every argument (seed 001)."""

import json
from collections.abc import Mapping
from typing import Any

from toolmd._types.call_spec import ToolCallSpec


def prompt_of(call_spec: ToolCallSpec, arguments: Mapping[str, Any]) -> str:
    """Return `I'd like to create reminder: title: Walk, days: 1,2. Is this correct?`."""
    told = ", ".join(f"{name}: {_told(value)}" for name, value in arguments.items())
    what = call_spec.name.replace("_", " ").replace("-", " ")
    critical = call_spec.safety.sensitivity == "critical"
    ending = "Please confirm these details are correct." if critical else "Is this correct?"
    return f"I'd like to {what}{': ' if told else ''}{told}. {ending}"


def _told(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ",".join(_told(item) for item in value) or "none"
    return json.dumps(value, ensure_ascii=False)
