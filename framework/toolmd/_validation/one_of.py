"""Find the shape of a One Of that an object has, and whether no object fits two of them."""

from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import Any

from toolmd._types.schema import Parameter, Schema
from toolmd._validation.keywords import identity


def shapes_for(value: Mapping[str, Any], shape: Schema) -> tuple[Parameter, ...]:
    """Return the shapes of a One Of that an object may have.

    With a Discriminator it is the one that its field names, or none; without, all of them.
    """
    shapes = shape.one_of or ()
    if shape.discriminator is None:
        return shapes
    if shape.discriminator not in value:
        return ()
    said = identity(value[shape.discriminator])
    pairs = zip(shapes, shape.tags, strict=True)
    return tuple(each for each, tag in pairs if identity(tag) == said)


def objects_for(value: Mapping[str, Any], shape: Schema) -> tuple[Schema, ...]:
    """Return the objects that a value may be: of One Of, its likely shapes, or all in doubt."""
    return tuple(each.shape for each in shapes_for(value, shape)) or shape.objects


def lacks_tag(value: Mapping[str, Any], each: Parameter) -> bool:
    """Return whether an object has another value in a field that a shape fixes."""
    names = (name for name in _fixed(each) if name in value)
    return any(_tag(each, name) != (identity(value[name]),) for name in names)


def are_apart(shape: Schema) -> bool:
    """Return whether it is certain that no object fits two of the shapes."""
    shapes = shape.one_of or ()
    if shape.discriminator is not None:
        return True
    for field in _fixed(shapes[0]) if shapes else ():
        tags = {_tag(each, field) for each in shapes if field in _fixed(each)}
        if len(tags) == len(shapes):
            return True  # one field tells all apart, so no pair needs comparing
    return all(
        _rejects(one.shape, two.shape) or _rejects(two.shape, one.shape)
        for one, two in combinations(shapes, 2)
    )


def _tag(each: Parameter, field: str) -> tuple[Hashable] | None:
    found = next((p for p in each.shape.properties or () if p.name == field), None)
    values = found.shape.enum if found is not None else None
    return (identity(values[0]),) if values is not None and len(values) == 1 else None


def _fixed(each: Parameter) -> list[str]:
    """Return the fields that every object of a shape has, with one value."""
    return [p.name for p in each.shape.properties or () if _is_needed(p) and _tag(each, p.name)]


def _is_needed(field: Parameter) -> bool:
    return field.required and not field.shape.has_default


def _rejects(one: Schema, two: Schema) -> bool:
    """Return whether no object of the one closed shape fits the other."""
    fields = {p.name: p.shape for p in two.properties or ()}
    needed = [p for p in one.properties or () if _is_needed(p)]
    return any(p.name not in fields or _differ(p.shape, fields[p.name]) for p in needed)


def _differ(one: Schema, two: Schema) -> bool:
    """Return whether no value fits both shapes, by their types and enums."""
    if one.enum is not None and two.enum is not None:
        return {identity(v) for v in one.enum}.isdisjoint(identity(v) for v in two.enum)
    types = [{*s.types, "integer"} if "number" in s.types else {*s.types} for s in (one, two)]
    return all(types) and types[0].isdisjoint(types[1])
