"""Export functions for the APIs of models: OpenAI's two, Anthropic's and Gemini's."""

from typing import Any

from toolmd._export.exported import ARGUMENT, Loss, fit
from toolmd._export.function import (
    CONFIDENCE,
    HANDLE_SHAPE,
    SURE,
    Function,
    add_sentences,
    compact,
    in_words,
    lose_exactness,
    loser,
    parts_of,
    with_parts,
)
from toolmd._export.narrow import InexpressibleError, split, strict
from toolmd._types.tool import ToolSpec

LONGEST_DESCRIPTION = 1024
"""Characters that every model's API accepts; some reject the whole request beyond them."""


def openai(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Return `{"type": "function", "function": {name, description, parameters, strict}}`."""
    flat = openai_responses(function, losses)
    return {"type": flat.pop("type"), "function": flat}


def openai_responses(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Return `{"type": "function", name, description, parameters, strict}`.

    The parameters are narrowed for strict mode where possible. Strict mode has no optional
    properties: they become nullable, and the parser of the reply reads a `null` for an optional
    argument as not given.
    """
    own = function.spec.name
    if (size := len(function.description)) > LONGEST_DESCRIPTION:
        # Sent whole: most models accept it, and a cut could remove the important word.
        told = f"nothing yet, but some models reject a description of {size} characters:"
        losses.append(Loss(own, "", f"{told} {LONGEST_DESCRIPTION} are safe"))
    parameters, is_strict = split(function.parameters), True
    lose_exactness(function.spec, loser(losses, own))
    lost: list[Loss] = []
    try:
        parameters = strict(parameters, loser(lost, own))
        losses += lost
    except InexpressibleError as reason:
        losses.append(Loss(own, "", f"strict mode: {reason}"))
        is_strict = False
    return {
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": parameters,
        "strict": is_strict,
    }


def anthropic(function: Function, losses: list[Loss]) -> dict[str, Any] | None:
    """Return `{name, description, input_schema, input_examples?}`, or None if it can't be sent.

    The API rejects a whole request for one invalid property name, and a renamed argument would
    reach no parameter; so such a tool is left out.
    """
    schema = _with_open_handles(split(function.parameters, union="oneOf"))
    names = (name for part in parts_of(schema) for name in part.get("properties", ()))
    if invalid := next((name for name in names if fit(name, ARGUMENT) != name), None):
        what = f"the tool is left out: no argument can be named {invalid!r} there"
        losses.append(Loss(function.spec.name, invalid, what))
        return None
    shown = {"name": function.name, "description": function.description, "input_schema": schema}
    examples = _examples(function)
    return {**shown, "input_examples": examples} if examples else shown


def _with_open_handles(schema: dict[str, Any], _path: str = "") -> dict[str, Any]:
    """Return the schema with handles as open objects: the API accepts no `$` in a name.

    The description of the parameter names the fields of a handle.
    """
    if schema.get("properties") == HANDLE_SHAPE["properties"]:
        return {k: v for k, v in schema.items() if k not in HANDLE_SHAPE}
    return with_parts(schema, _with_open_handles)


def _examples(function: Function) -> list[dict[str, Any]]:
    # The API rejects examples that do not fit its schema, so an example states a confidence where
    # the schema requires one, and an example of an error is not sent.
    if not isinstance(function.spec, ToolSpec):
        return []
    stated = {CONFIDENCE: SURE} if CONFIDENCE in function.parameters["properties"] else {}
    return [{**e.arguments, **stated} for e in function.spec.examples if e.error is None]


def gemini(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Return `{name, description, parametersJsonSchema}`; Gemini's enums have text and numbers."""
    lose = loser(losses, function.spec.name)
    lose_exactness(function.spec, lose)

    def nameable(schema: dict[str, Any], path: str) -> dict[str, Any]:
        shown, words = dict(schema), []
        if any(isinstance(v, bool) or not isinstance(v, str | int | float)
               for v in shown.get("enum", ())):  # fmt: skip
            values = shown.pop("enum")
            words.append(in_words("enum", values))
            lose(path, f"enum {compact(values)}")
        return add_sentences(with_parts(shown, nameable, path), words)

    return {
        "name": function.name,
        "description": function.description,
        "parametersJsonSchema": nameable(split(function.parameters), ""),
    }
