"""Export functions for OpenAI's Responses, in their flat form."""

from typing import Any

from toolmd._export.exported import Loss
from toolmd._export.function import Function
from toolmd._export.names import FUNCTION
from toolmd._export.openai import narrowed

RULE = FUNCTION


def item(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Return `{"type": "function", name, description, parameters, strict}`."""
    parameters, is_strict = narrowed(function, losses)
    return {
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": parameters,
        "strict": is_strict,
    }
