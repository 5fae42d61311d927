"""Build a pydantic-core schema from a Schema, and find the shape of a One Of."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from itertools import combinations
from math import ceil, floor
from typing import Any

from pydantic_core import SchemaValidator, ValidationError
from pydantic_core import core_schema as core
from pydantic_core.core_schema import CoreSchema

from toolmd._types.field import JsonType
from toolmd._types.schema import JSON_TYPES, KEYWORDS, Parameter, Schema
from toolmd._validation.keywords import checks_of, identity


def object_shape(parameters: tuple[Parameter, ...], values: Schema | None = None) -> CoreSchema:
    """Return the shape of an object with these fields, closed unless `values` are allowed."""
    return core.typed_dict_schema(
        {p.name: _field(p) for p in parameters},
        strict=True,
        extra_behavior="forbid" if values is None else "allow",
        extras_schema=None if values is None else value_shape(values),
    )


def value_shape(shape: Schema) -> CoreSchema:
    """Return the shape of one value; raises PatternError."""
    if _is_text_enum(shape):
        return core.literal_schema(list(shape.enum or ()))
    schema = _any_type(shape)
    if shape.enum is not None:
        schema = core.no_info_after_validator_function(_one_of(shape.enum), schema)
    return schema


def _field(parameter: Parameter) -> core.TypedDictField:
    shape = parameter.shape
    schema = value_shape(shape)
    if shape.has_default:
        schema = core.with_default_schema(schema, default=shape.default, validate_default=True)
    required = parameter.required and not shape.has_default
    return core.typed_dict_field(schema, required=required)


def _is_text_enum(shape: Schema) -> bool:
    return (
        shape.types == ("string",)
        and bool(shape.enum)
        and all(type(value) is str for value in shape.enum or ())
        and not any("string" in KEYWORDS[name].fits for name in _set(shape))
    )


def _any_type(shape: Schema) -> CoreSchema:
    types = shape.types
    if not types:
        if not is_bounded(shape):
            return core.any_schema()
        types = JSON_TYPES
    if "number" in types:
        types = tuple(kind for kind in types if kind != "integer")
    choices = [_of_type(kind, shape) for kind in types]
    if len(choices) == 1:
        return choices[0]
    return core.union_schema(choices, mode="left_to_right")  # type: ignore[arg-type]


def is_bounded(shape: Schema) -> bool:
    """Return whether a shape has constraints beyond its types, enum and words."""
    nested = (shape.items, shape.properties, shape.values, shape.one_of)
    return any(part is not None for part in nested) or any(_set(shape))


def _set(shape: Schema) -> Iterator[str]:
    """Yield the keywords that restrict the value."""
    for name, row in KEYWORDS.items():
        value = getattr(shape, name)
        # By identity: a bound of 0 equals False, but is a bound.
        if row.fits and value is not None and value is not False:
            yield name


def _of_type(kind: JsonType, shape: Schema) -> CoreSchema:
    schema = _BUILDERS[kind](shape)
    for check, keyword in checks_of(shape, kind):
        if (test := check.test(keyword)) is not None:
            schema = _after(test, schema)
    return schema


def _after(test: Callable[[Any], object], shape: CoreSchema) -> CoreSchema:
    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError
        return value

    return core.no_info_after_validator_function(check, shape)


def _text(shape: Schema) -> CoreSchema:
    return core.str_schema(strict=True, min_length=shape.min_length, max_length=shape.max_length)


def _whole(shape: Schema) -> CoreSchema:
    low, high = shape.minimum, shape.maximum
    return core.int_schema(
        strict=True,
        ge=None if low is None else ceil(low),
        le=None if high is None else floor(high),
    )


def _fraction(shape: Schema) -> CoreSchema:
    return core.float_schema(strict=True, ge=shape.minimum, le=shape.maximum, allow_inf_nan=False)


def _integer(shape: Schema) -> CoreSchema:
    # JSON has one kind of number: 2.0 is the integer 2.
    integral = core.no_info_after_validator_function(_integral, _fraction(shape))
    return core.union_schema([_whole(shape), integral], mode="left_to_right")


def _integral(number: float) -> int:
    if not number.is_integer():
        raise ValueError
    return int(number)


def _number(shape: Schema) -> CoreSchema:
    return core.union_schema([_whole(shape), _fraction(shape)], mode="left_to_right")


def _array(shape: Schema) -> CoreSchema:
    schema: CoreSchema = core.list_schema(
        None if shape.items is None else value_shape(shape.items),
        strict=True,
        min_length=shape.min_items,
        max_length=shape.max_items,
    )
    if shape.unique:
        schema = core.no_info_after_validator_function(_all_different, schema)
    return schema


def _all_different(items: list[Any]) -> list[Any]:
    if len({identity(item) for item in items}) != len(items):
        raise ValueError
    return items


def _object(shape: Schema) -> CoreSchema:
    if shape.one_of is not None:
        return core.no_info_plain_validator_function(_exactly_one(shape))
    if shape.properties is not None:
        return object_shape(shape.properties, shape.values)
    values = None if shape.values is None else value_shape(shape.values)
    return core.dict_schema(core.str_schema(strict=True), values, strict=True)


def _exactly_one(shape: Schema) -> Callable[[Any], Any]:
    """Return a function that validates an object by the one shape of a One Of that it fits."""
    shapes = shape.one_of or ()
    guards = {p.name: SchemaValidator(object_shape(p.shape.properties or ())) for p in shapes}

    def check(value: Any) -> Any:
        if type(value) is not dict:
            raise ValueError
        found = []
        for each in shapes_for(value, shape):
            with suppress(ValidationError):
                found.append(guards[each.name].validate_python(value))
        if len(found) != 1:
            raise ValueError
        return found[0]

    return check


_BUILDERS: dict[JsonType, Callable[[Schema], CoreSchema]] = {
    "string": _text,
    "number": _number,
    "integer": _integer,
    "boolean": lambda _: core.bool_schema(strict=True),
    "object": _object,
    "array": _array,
    "null": lambda _: core.none_schema(),
}


def _one_of(allowed: tuple[Any, ...]) -> Callable[[Any], Any]:
    known = frozenset(identity(value) for value in allowed)

    def check(value: Any) -> Any:
        if identity(value) not in known:
            raise ValueError
        return value

    return check


def fits(shape: Schema) -> Callable[[Any], bool]:
    """Return a fast check of whether a JSON value fits. Raises PatternError."""
    return SchemaValidator(value_shape(shape)).isinstance_python


def shapes_for(value: Mapping[str, Any], shape: Schema) -> tuple[Parameter, ...]:
    """Return the shapes of a One Of that an object may have.

    With a Discriminator it is the one that its field names, or none; without, all of them.
    """
    shapes = shape.one_of or ()
    if shape.discriminator is None:
        return shapes
    if shape.discriminator not in value:
        return ()
    identity_ = identity(value[shape.discriminator])
    pairs = zip(shapes, shape.tags, strict=True)
    return tuple(each for each, tag in pairs if identity(tag) == identity_)


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
