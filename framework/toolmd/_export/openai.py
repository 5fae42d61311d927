"""Functions for OpenAI's Chat Completions, and for OpenRouter."""

from typing import Any

from toolmd._export.exported import Loss
from toolmd._export.function import Function, loser
from toolmd._export.names import FUNCTION
from toolmd._export.narrow import InexpressibleError, split, strict

RULE = FUNCTION
LONGEST_DESCRIPTION = 1024
"""Characters that every model's API takes; some refuse the whole request beyond them."""


def item(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Give `{"type": "function", "function": {name, description, parameters, strict}}`."""
    parameters, is_strict = narrowed(function, losses)
    return {
        "type": "function",
        "function": {
            "name": function.name,
            "description": function.description,
            "parameters": parameters,
            "strict": is_strict,
        },
    }


def narrowed(function: Function, losses: list[Loss]) -> tuple[dict[str, Any], bool]:
    """Give the parameters, in strict mode's words where it has them.

    Strict mode knows no optional property: it is nullable there, and the reader of the reply
    takes a `null` for an optional argument as not given.
    """
    if (size := len(function.description)) > LONGEST_DESCRIPTION:
        # Sent whole: most models take it, and a cut could lose the word that matters.
        told = f"nothing yet, but some models refuse a description of {size} characters:"
        losses.append(Loss(function.spec.name, "", f"{told} {LONGEST_DESCRIPTION} are safe"))
    parameters = split(function.parameters)
    lost: list[Loss] = []
    try:
        narrow = strict(parameters, loser(lost, function.spec.name))
    except InexpressibleError as reason:
        losses.append(Loss(function.spec.name, "", f"strict mode: {reason}"))
        return parameters, False
    losses += lost
    return narrow, True
