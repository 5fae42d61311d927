"""Write the bounds of JSON Schema that no field of a parameter expresses as rules."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from toolmd._types.call_spec import Rule
from toolmd._types.schema import Parameter, Schema

_STRICT = {"exclusiveMinimum": (">", "above"), "exclusiveMaximum": ("<", "below")}
_STEP = "multipleOf"
_WORDS = (*_STRICT, _STEP)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = frozenset(
    "as break const continue else false for function if import in let loop namespace null "
    "package return true var void while".split()
)
"""The words that CEL does not read as names."""


class Bound(NamedTuple):
    """A bound of the value at a path such as `order.lines[].price`."""

    path: str
    keyword: str
    value: Any


def bounds_of(flat: dict[str, Any], path: str) -> list[Bound]:
    """Return the bounds of a schema that may need a rule."""
    return [Bound(path, word, flat[word]) for word in _WORDS if flat.get(word) is not None]


def whole_bounds(flat: dict[str, Any]) -> dict[str, int]:
    """Return the exclusive bounds of an integer as the bounds of a parameter."""
    said: dict[str, int] = {}
    for (keyword, bound, step), nearer in zip(
        (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)),
        (max, min),
        strict=True,
    ):
        value = flat.get(keyword)
        if isinstance(value, int) and not isinstance(value, bool):
            said[bound] = nearer(flat.get(bound, value + step), value + step)
    return said


def rule_of(bound: Bound, parameters: Sequence[Parameter]) -> Rule | None:
    """Return the rule that enforces a bound; None if no expression can."""
    condition = _at(bound.path.split("."), parameters, "", bound)
    if condition is None:
        return None
    if bound.keyword == _STEP:
        return Rule(condition, f"{bound.path} must be a multiple of {bound.value}.")
    return Rule(condition, f"{bound.path} must be {_STRICT[bound.keyword][1]} {bound.value}.")


def _at(steps: list[str], fields: Sequence[Parameter], above: str, bound: Bound) -> str | None:
    """Return the condition for the value that the steps reach from the fields of an object."""
    name = steps[0].partition("[")[0]
    field = next((one for one in fields if one.name == name), None)
    own = name if above else name.replace("-", "_")
    if field is None or not _NAME.fullmatch(own) or own in _RESERVED:
        return None
    place = f"{above}.{own}" if above else own
    held = _within(field.shape, steps[0].count("[]"), place, steps[1:], bound)
    return held if held is None or field.required else f"!has({place}) || {held}"


def _within(
    shape: Schema, lists: int, place: str, steps: list[str], bound: Bound, depth: int = 0
) -> str | None:
    if lists:
        one = f"{place.partition('.')[0].rstrip('0123456789')}{depth + 1}"
        if shape.types != ("array",) or shape.items is None:
            return None
        held = _within(shape.items, lists - 1, one, steps, bound, depth + 1)
        return held and f"{place}.all({one}, {held})"
    if steps:
        is_object = shape.types == ("object",)
        return _at(steps, shape.properties or (), place, bound) if is_object else None
    return _compared(shape, place, bound)


def _compared(shape: Schema, place: str, bound: Bound) -> str | None:
    value = bound.value
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if bound.keyword == _STEP:
        whole = shape.types == ("integer",) and isinstance(value, int)
        return f"{place} % {value} == 0" if whole else None
    return f"{place} {_STRICT[bound.keyword][0]} {value}" if shape.types == ("number",) else None
