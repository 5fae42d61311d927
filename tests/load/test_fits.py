"""Annotations against schemas: values that don't fit, and the conversion from JSON."""

import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pytest
from annotated import COLOURS, PLACE, Colour, Data, Name, of
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from toolmd._load.fits import converter, mismatch
from toolmd._types.schema import JSON_TYPES, Parameter, Schema
from toolmd._validation import problems


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Dict(TypedDict, total=False):
    city: str
    number: int


class Model(BaseModel):
    city: str
    number: int = 0


class Unrelated:
    """No type that JSON becomes."""


TOWN = of("object", properties=(Parameter(name="town", shape=of("string")),))
MAYBE_CITY = of("object", properties=(Parameter(name="city", shape=of("string")),))
NUMBERED_CITY = of("object", properties=(Parameter(name="city", shape=of("integer")),))


@pytest.mark.parametrize(
    ("shape", "annotation"),
    [
        (of("string"), str),
        (of("string"), Name),
        (of("string"), dt.datetime),
        (of("string", format="date"), dt.date),
        (of("string"), dt.time),
        (of("string"), uuid.UUID),
        (of("string"), decimal.Decimal),
        (of("string"), bytes),
        (of("string"), Optional[str]),  # noqa: UP045 - written either way
        (of("string"), Union[int, str]),  # noqa: UP007
        (of("string"), Annotated[str, Field(max_length=3)]),
        (COLOURS, Literal["red", "blue", "green"]),
        (COLOURS, Colour),
        (COLOURS, str),
        (of("integer"), int),
        (of("integer"), float),
        (of("integer"), decimal.Decimal),
        (of("integer", enum=(1, 2)), Level),
        (of("integer", enum=(1, 2)), Literal[1, 2]),
        (of("number"), float),
        (of("number"), decimal.Decimal),
        (of("number", enum=(1, 2)), int),
        (of("boolean"), bool),
        (of("boolean"), Literal[True, False]),
        (of("array"), list),
        (of("array"), list[int]),
        (of("array", items=of("string")), list[str]),
        (of("array", items=of("string")), tuple[str, ...]),
        (of("array", items=of("string")), set[str]),
        (of("array", items=of("string")), Sequence[str]),
        (of("array", items=PLACE), list[Data]),
        (of("object"), dict),
        (of("object"), dict[str, int]),
        (of("object"), Mapping[str, Any]),
        (of("object", values=of("integer")), dict[str, int]),
        (PLACE, dict[str, str | int]),
        (PLACE, Dict),
        (PLACE, Data),
        (PLACE, Model),
        (of("string", "null"), str | None),
        (of("string", "array"), str | list[str]),
        (of(), int),
        (of("string", "integer"), Any),
        (of("object"), object),
    ],
)
def test_an_annotation_that_accepts_every_value_has_no_finding(
    shape: Schema, annotation: Any
) -> None:
    assert mismatch(shape, annotation) is None


@pytest.mark.parametrize(
    ("shape", "annotation", "says"),
    [
        (of("string"), int, "a string, not an integer"),
        (of("string"), Literal["a"], "every string"),
        (of("string"), Colour, "every string"),
        (COLOURS, Literal["red"], "'blue'"),
        (of("string", enum=("red", "green")), Colour, "'green'"),
        (of("integer"), str, "an integer"),
        (of("integer"), bool, "an integer"),
        (of("boolean"), int, "a boolean"),
        (of("boolean"), Literal[True], "False, not True"),
        (of("number"), int, "2.5"),
        (of("string", "null"), str, "null"),
        (of("string", "array"), str, "an array"),
        (of("array", items=of("string")), list[int], "among the items"),
        (of("array"), str, "an array"),
        (of("object"), list, "an object"),
        (of("object", values=of("string")), dict[str, int], "a string"),
        (PLACE, dict[str, int], "as `city`"),
        (
            of("object", properties=(Parameter(name="city", shape=of("integer")),)),
            Dict,
            "as `city`",
        ),
        (TOWN, Dict, "`town`"),
        (
            of("object", properties=(Parameter(name="city", shape=of("string")),)),
            Data,
            "without `city`",
        ),
        (of("object"), Unrelated, "unlike `Unrelated`"),
        (of("string"), None, "a string"),
    ],
)
def test_a_narrower_annotation_is_reported(shape: Schema, annotation: Any, says: str) -> None:
    found = mismatch(shape, annotation)

    assert found is not None
    assert says in f"{found.what}, not {found.wanted}"


@pytest.mark.parametrize(
    ("shape", "annotation", "value", "made"),
    [
        (of("string"), dt.datetime, "2026-01-02T03:04:05", dt.datetime(2026, 1, 2, 3, 4, 5)),  # noqa: DTZ001
        (of("string"), dt.date | None, "2026-01-02", dt.date(2026, 1, 2)),
        (of("string"), uuid.UUID, "0" * 32, uuid.UUID(int=0)),
        (of("number"), decimal.Decimal, 1.1, decimal.Decimal("1.1")),
        (COLOURS, Colour, "red", Colour.RED),
        (of("number"), float, 2, 2.0),
        (of("array", items=of("number")), list[float], [1, 2], [1.0, 2.0]),
        (of("array", items=of("string")), set[str], ["a", "a"], {"a"}),
        (PLACE, Data, {"city": "x"}, Data("x", 0)),
        (PLACE, Model, {"city": "x", "number": 2}, Model(city="x", number=2)),
        (of("array", items=PLACE), list[Data], [{"city": "x"}], [Data("x")]),
    ],
)
def test_json_becomes_the_annotated_type(
    shape: Schema, annotation: Any, value: Any, made: Any
) -> None:
    convert = converter(shape, annotation, fits=mismatch(shape, annotation) is None)

    assert convert is not None
    assert convert(value) == made
    assert type(convert(value)) is type(made)


@pytest.mark.parametrize("annotation", [str, int, bool, list[str], dict[str, Any], Dict, Any])
def test_values_of_json_types_stay_unchanged(annotation: Any) -> None:
    assert converter(Schema(), annotation, fits=True) is None


def test_a_value_that_cannot_be_converted_is_a_value_error_that_names_valid_ones() -> None:
    convert = converter(of("string"), dt.datetime | None, fits=True)

    assert convert is not None
    assert convert.wanted == "an ISO 8601 date and time such as 2026-03-05T09:00:00 or null"
    with pytest.raises(ValueError, match="datetime"):
        convert("after lunch")


scalars = st.sampled_from([str, int, float, bool, None, dt.datetime, decimal.Decimal, Any])
annotations = st.recursive(
    scalars,
    lambda inner: st.one_of(
        inner.map(lambda a: list[a]),
        inner.map(lambda a: dict[str, a]),
        st.tuples(inner, inner).map(lambda pair: Union[pair]),  # noqa: UP007
    ),
    max_leaves=4,
)
kinds = st.lists(st.sampled_from(JSON_TYPES), max_size=3, unique=True).map(tuple)
shapes = st.recursive(
    kinds.map(lambda types: Schema(types=types)),
    lambda inner: st.one_of(
        inner.map(lambda s: Schema(types=("array",), items=s)),
        inner.map(lambda s: Schema(types=("object",), values=s)),
    ),
    max_leaves=3,
)
LEAVES: dict[str, tuple[list[Any], st.SearchStrategy[Any]]] = {
    "string": ([str, Any, dt.datetime | str], st.text("ab1", max_size=2)),
    "integer": ([int, float, decimal.Decimal, int | str], st.integers(-5, 5)),
    "number": ([float, decimal.Decimal, float | None], st.floats(-2, 2) | st.integers(-2, 2)),
    "boolean": ([bool, bool | str], st.booleans()),
    "null": ([None, int | None], st.none()),
}


@st.composite
def fitting(draw: st.DrawFn, depth: int = 2) -> tuple[Schema, Any, st.SearchStrategy[Any]]:
    """Give a shape, an annotation that holds it, and the values of the shape."""
    kind = draw(st.sampled_from([*LEAVES, *(["array", "object"] if depth else [])]))
    if kind in LEAVES:
        held, values = LEAVES[kind]
        return Schema(types=(kind,)), draw(st.sampled_from(held)), values
    shape, annotation, values = draw(fitting(depth - 1))
    if kind == "array":
        made = draw(st.sampled_from([list[annotation], Sequence[annotation], list]))
        return Schema(types=("array",), items=shape), made, st.lists(values, max_size=3)
    made = draw(st.sampled_from([dict[str, annotation], Mapping[str, annotation], dict]))
    keys = st.text("k", max_size=2)
    return Schema(types=("object",), values=shape), made, st.dictionaries(keys, values, max_size=2)


@settings(max_examples=3 * settings.default.max_examples)
@given(fit=fitting(), data=st.data())
def test_every_allowed_value_converts_if_there_is_no_finding(
    fit: tuple[Schema, Any, st.SearchStrategy[Any]], data: st.DataObject
) -> None:
    shape, annotation, values = fit
    value = data.draw(values)

    assert not problems(value, shape)
    assert mismatch(shape, annotation) is None
    if (convert := converter(shape, annotation, fits=True)) is not None:
        convert(value)


@settings(max_examples=3 * settings.default.max_examples)
@given(shape=shapes, annotation=annotations)
def test_any_pair_is_answered(shape: Schema, annotation: Any) -> None:
    found = mismatch(shape, annotation)

    assert found is None or (found.what and found.wanted)
