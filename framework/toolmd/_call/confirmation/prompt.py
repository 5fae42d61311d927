"""Format the question whether a call may run; it names every argument (seed 001)."""

import json
from collections.abc import Mapping
from typing import Any

from toolmd._types.call_spec import ToolCallSpec
from toolmd._validation import read_object


def prompt_of(call_spec: ToolCallSpec, shown: Mapping[str, Any], given: object) -> str:
    """Return `I'd like to create reminder: title: Walk, days: 1,2. Is this correct?`.

    Args:
        call_spec: The tool's.
        shown: The arguments with defaults, without Sensitive values.
        given: What the call gave, an object or its JSON text; defaults are not named.
    """
    names = given if isinstance(given, Mapping) else read_object(given)
    told = ", ".join(f"{name}: {_told(shown[name])}" for name in shown if name in names)
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
