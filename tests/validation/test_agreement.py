"""The validator agrees with JSON Schema, as the `jsonschema` package judges it.

Left out of the drawing, because they differ on purpose: Format (an annotation there), Pattern
(a search there, the whole text here), and a required parameter with a Default (filled here).
"""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolmd._types.schema import JSON_TYPES, Parameter, Schema, object_schema
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError

NAMES = st.sampled_from(["a", "b", "c", "one two"])
KEYS = NAMES | st.just("kind")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 2.0, -2.0, 0.5, 2.5, 1e300, 2**70, -0.0])
    | st.sampled_from(["", "a", "ab", "👍", "👍👍👍", "1", "true"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
BOUNDS = {
    "minimum": st.integers(-3, 3) | st.sampled_from([0.5, -1.5]),
    "maximum": st.integers(-3, 3) | st.sampled_from([0.5, 2.5]),
    "min_length": st.integers(0, 2),
    "max_length": st.integers(0, 3),
    "min_items": st.integers(0, 2),
    "max_items": st.integers(0, 3),
    "unique": st.booleans(),
}


@st.composite
def shapes(draw: st.DrawFn, depth: int = 3) -> Schema:
    """Draw a Schema with any of the constraints, fitting its types or not."""
    fields: dict[str, Any] = {
        "types": tuple(draw(st.lists(st.sampled_from(JSON_TYPES), max_size=3, unique=True)))
    }
    for name in draw(st.lists(st.sampled_from(sorted(BOUNDS)), max_size=2, unique=True)):
        fields[name] = draw(BOUNDS[name])
    if draw(st.integers(0, 5)) == 0:
        fields["enum"] = tuple(draw(st.lists(VALUES, min_size=1, max_size=3)))
    if depth and draw(st.booleans()):
        fields["items"] = draw(shapes(depth - 1))
    if depth and "object" in fields["types"] and draw(st.booleans()):
        fields |= draw(one_ofs(depth - 1))
        return Schema(**fields)
    if depth and draw(st.booleans()):
        fields["properties"] = draw(parameters(depth - 1))
    if depth and draw(st.integers(0, 3)) == 0:
        fields["values"] = draw(shapes(depth - 1))
    return Schema(**fields)


@st.composite
def one_ofs(draw: st.DrawFn, depth: int) -> dict[str, Any]:
    """Draw up to three object shapes; half of the time `kind` tells them apart."""
    tags = draw(st.lists(st.sampled_from(["a", "ab", 1, True, 0, False, None]), min_size=1,
                         max_size=3, unique_by=repr))  # fmt: skip
    told_apart = draw(st.booleans())
    shapes_ = []
    for number, tag in enumerate(tags):
        fields = draw(parameters(depth))
        if told_apart:
            fields = (Parameter("kind", Schema(enum=(tag,)), required=True), *fields)
        shape = Schema(types=("object",), properties=fields)
        shapes_.append(Parameter(f"s{number}", shape))
    return {"one_of": tuple(shapes_), "discriminator": "kind" if told_apart else None}


@st.composite
def parameters(draw: st.DrawFn, depth: int = 2) -> tuple[Parameter, ...]:
    """Draw up to three parameters of different names."""
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    return tuple(
        Parameter(name=name, shape=draw(shapes(depth)), required=draw(st.booleans()))
        for name in names
    )


@settings(max_examples=4 * settings.default.max_examples)
@given(parameters(), st.data())
def test_the_validator_accepts_exactly_what_json_schema_accepts(
    fields: tuple[Parameter, ...], data: st.DataObject
) -> None:
    validator = ArgumentsValidator(fields)
    guard = jsonschema.Draft202012Validator(object_schema(fields))
    for arguments in data.draw(st.lists(st.dictionaries(NAMES, VALUES, max_size=3), max_size=8)):
        if "null" in json.dumps(arguments):
            continue  # It stands for an absent argument where the schema has no null.
        if guard.is_valid(arguments):
            assert validator.validate(arguments) == arguments
        else:
            with pytest.raises(InvalidArgumentsError) as refused:
                validator.validate(arguments)
            assert refused.value.problems[0].code != "invalid_value"
