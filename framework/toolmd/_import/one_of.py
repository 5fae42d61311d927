"""Read the object shapes of a flat `oneOf` or `anyOf` as One Of."""

from collections.abc import Callable, Mapping
from typing import Any

from toolmd._import.flat_types import SHAPED
from toolmd._import.flatten import Flattener
from toolmd._import.names import parameter_name
from toolmd._types.schema import Parameter, Schema
from toolmd._validation import are_apart
from toolmd._validation.identity import identity

_OUTER = ("properties", "required", "additionalProperties", "patternProperties")

ReadShape = Callable[[dict[str, Any]], Schema]


def read_shapes(
    flat: Mapping[str, Any], path: str, flattener: Flattener, read: ReadShape
) -> dict[str, Any]:
    """Return the attributes of a Schema whose objects have several shapes; none without them.

    Fields next to the shapes become fields of each shape.
    """
    keyword = next((word for word in SHAPED if word in flat), None)
    if keyword is None:
        return {}
    outer = {word: flat[word] for word in _OUTER if word in flat} | {"type": "object"}
    said: dict[str, Any] = {}
    titles, found = [], []
    for branch in flat[keyword]:
        merged = flattener.merged(outer, branch, path)
        titles.append(str(merged.pop("title", "")))
        shape = read(merged)
        if shape.properties is None:
            flattener.tell(path, "a shape can't be read as an object with fields: any object")
            return {}
        if shape.has_default or shape.has_example:
            flattener.tell(path, "the default or example of a shape is not kept")
        said |= {flag: True for flag in ("sensitive", "verbatim") if getattr(shape, flag)}
        found.append(Schema(("object",), shape.description, properties=shape.properties))
    declared = flat.get("discriminator")
    field = declared.get("propertyName") if isinstance(declared, Mapping) else None
    tag, values = _tag(found, field)
    if tag is not None:
        said["discriminator"] = tag
        titles = [v if isinstance(v, str) and parameter_name(v) == v else t
                  for v, t in zip(values, titles, strict=True)]  # fmt: skip
    said["one_of"] = tuple(map(Parameter, _names(titles), found))
    if keyword == "anyOf" and not are_apart(Schema(**said)):
        flattener.tell(path, "a value that fits several shapes is rejected, though allowed there")
    return said


def _tag(shapes: list[Schema], declared: Any) -> tuple[str | None, list[Any]]:
    """Return the required field with one value of its own in each shape, and the values."""
    fields = [{p.name: p for p in shape.properties or ()} for shape in shapes]
    for name in sorted(fields[0], key=lambda name: name != declared):
        told = [one.get(name) for one in fields]
        values = [
            p.shape.enum[0]
            for p in told
            if p is not None and p.required and not p.shape.has_default
            if p.shape.enum is not None and len(p.shape.enum) == 1
        ]
        if len({identity(value) for value in values}) == len(shapes):
            return name, values
    return None, []


def _names(titles: list[str]) -> list[str]:
    """Return a valid name for each shape, no two the same."""
    names: list[str] = []
    for number, title in enumerate(titles, 1):
        name = parameter_name(title)[:56] or f"shape_{number}"
        names.append(f"{name}_{number}" if name in names else name)
    return names
