"""Export tools for Anthropic's Messages API."""

from collections.abc import Iterator
from typing import Any

from toolmd._export.exported import Loss
from toolmd._export.function import CONFIDENCE, SURE, Function
from toolmd._export.names import ARGUMENT, FUNCTION, fit
from toolmd._export.narrow import split
from toolmd._export.plain import HANDLE_SHAPE
from toolmd._types.tool import ToolSpec

RULE = FUNCTION


def item(function: Function, losses: list[Loss]) -> dict[str, Any] | None:
    """Return `{name, description, input_schema, input_examples?}`, or None if it can't be sent.

    The API rejects a whole request for one invalid property name, and a renamed argument would
    reach no parameter; so such a tool is left out.
    """
    schema = _with_open_handles(split(function.parameters, union="oneOf"))
    invalid = [name for name in _names(schema) if fit(name, ARGUMENT) != name]
    if invalid:
        what = f"the tool is left out: no argument can be named {invalid[0]!r} there"
        losses.append(Loss(function.spec.name, invalid[0], what))
        return None
    shown = {"name": function.name, "description": function.description, "input_schema": schema}
    examples = _examples(function)
    return {**shown, "input_examples": examples} if examples else shown


def _with_open_handles(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with handles as open objects: the API accepts no `$` in a name.

    The description of the parameter names the fields of a handle.
    """

    def opened(part: dict[str, Any]) -> dict[str, Any]:
        if part.get("properties") == HANDLE_SHAPE["properties"]:
            return {k: v for k, v in part.items() if k not in HANDLE_SHAPE}
        unions: dict[str, Any] = {
            key: list(map(opened, part[key])) for key in ("anyOf", "oneOf") if key in part
        }
        return {**part, **unions}

    fields = {name: opened(field) for name, field in schema["properties"].items()}
    return {**schema, "properties": fields}


def _names(schema: dict[str, Any]) -> Iterator[str]:
    below = [schema.get("items"), schema.get("additionalProperties")]
    below += [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for name, field in schema.get("properties", {}).items():
        yield name
        below.append(field)
    for part in below:
        if isinstance(part, dict):
            yield from _names(part)


def _examples(function: Function) -> list[dict[str, Any]]:
    # The API rejects examples that do not fit its schema, so an example states a confidence where
    # the schema requires one, and an example of an error is not sent.
    if not isinstance(function.spec, ToolSpec):
        return []
    stated = {CONFIDENCE: SURE} if CONFIDENCE in function.parameters["properties"] else {}
    return [{**e.arguments, **stated} for e in function.spec.examples if e.error is None]
