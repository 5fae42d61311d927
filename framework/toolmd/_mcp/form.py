"""Build the form that shows a pending call, and lets a person change its flat arguments."""

import json
from collections.abc import Mapping
from typing import Any

from toolmd._types.schema import KEYWORDS, UPPER, Parameter, Schema

FORMATS = frozenset(("email", "uri", "date", "date-time"))
"""The formats that the protocol's forms know."""
MULTI_SELECT_SINCE = "2025-11-25"
"""The first revision with forms that accept several values of an enum."""
_KINDS = ("string", "number", "integer", "boolean")
_BOUNDS = (*UPPER, *UPPER.values())
"""The keywords that the protocol's forms know."""


def form(
    parameters: tuple[Parameter, ...], arguments: Mapping[str, Any], version: str
) -> dict[str, Any]:
    """Return the form's schema, with the call's flat arguments as defaults.

    Sensitive values are only in the question: the protocol forbids them in a form.
    """
    fields = {
        parameter.name: field
        for parameter in parameters
        if parameter.name in arguments
        and (field := _field(parameter, arguments[parameter.name], version)) is not None
    }
    return {"type": "object", "properties": fields, "required": list(fields)}


def form_for_words(name: str) -> dict[str, Any]:
    """Return the form for a skill's question; an empty answer is a plain yes."""
    return {"type": "object", "properties": {name: {"type": "string", "title": _title(name)}}}


def changed(arguments: Mapping[str, Any], content: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values of the form that differ from the call's arguments."""
    return {
        name: value
        for name, value in (content or {}).items()
        # Compared as JSON text, where true differs from 1.
        if name not in arguments or json.dumps(value) != json.dumps(arguments[name])
    }


def _field(parameter: Parameter, value: Any, version: str) -> dict[str, Any] | None:
    shape = parameter.shape
    if shape.sensitive or len(shape.types) != 1:
        return None
    said = {"title": _title(parameter.name)}
    if shape.description:
        said["description"] = shape.description
    if (kind := shape.types[0]) == "array":
        chosen = _choices(shape.items) if shape.items is not None else None
        if chosen is None or version < MULTI_SELECT_SINCE:
            return None
        items = {"type": "string", "enum": chosen}
        return {"type": "array", **said, "items": items, "default": value}
    if kind not in _KINDS:
        return None
    bounds = {
        KEYWORDS[name].word: bound
        for name in _BOUNDS
        if kind in KEYWORDS[name].fits and (bound := getattr(shape, name)) is not None
    }
    field = {"type": kind, **said, **bounds, "default": value}
    if kind == "string" and (chosen := _choices(shape)):
        field["enum"] = chosen
    elif shape.format in FORMATS:
        field["format"] = shape.format
    return field


def _title(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").capitalize()


def _choices(shape: Schema) -> list[str] | None:
    if shape.types == ("string",) and shape.enum and all(isinstance(v, str) for v in shape.enum):
        return [str(value) for value in shape.enum]
    return None
