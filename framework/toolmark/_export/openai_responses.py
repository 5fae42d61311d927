"""Functions for OpenAI's Responses, which stand flat."""

from typing import Any

from toolmark._export.exported import Loss
from toolmark._export.function import Function
from toolmark._export.names import FUNCTION
from toolmark._export.openai import narrowed

RULE = FUNCTION


def item(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Give `{"type": "function", name, description, parameters, strict}`."""
    parameters, is_strict = narrowed(function, losses)
    return {
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": parameters,
        "strict": is_strict,
    }
