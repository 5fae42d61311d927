"""Export functions for OpenAI's Chat Completions, and for OpenRouter."""

from typing import Any

from toolmd._export.exported import Loss
from toolmd._export.function import Function, lose_exactness, loser
from toolmd._export.names import FUNCTION
from toolmd._export.narrow import InexpressibleError, split, strict

RULE = FUNCTION
LONGEST_DESCRIPTION = 1024
"""Characters that every model's API accepts; some reject the whole request beyond them."""


def item(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Return `{"type": "function", "function": {name, description, parameters, strict}}`."""
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
    """Return the parameters, narrowed for strict mode where possible.

    Strict mode has no optional properties: they become nullable, and the parser of the reply
    reads a `null` for an optional argument as not given.
    """
    if (size := len(function.description)) > LONGEST_DESCRIPTION:
        # Sent whole: most models accept it, and a cut could remove the important word.
        told = f"nothing yet, but some models reject a description of {size} characters:"
        losses.append(Loss(function.spec.name, "", f"{told} {LONGEST_DESCRIPTION} are safe"))
    parameters = split(function.parameters)
    lose_exactness(function.spec, loser(losses, function.spec.name))
    lost: list[Loss] = []
    try:
        narrow = strict(parameters, loser(lost, function.spec.name))
    except InexpressibleError as reason:
        losses.append(Loss(function.spec.name, "", f"strict mode: {reason}"))
        return parameters, False
    losses += lost
    return narrow, True
