"""Sample values fit the shapes that they are made for."""

from hypothesis import given
from hypothesis import strategies as st

from toolmd._types.schema import JSON_TYPES, Parameter, Schema
from toolmd._validation import problems, sample, sample_arguments

FORMATS = ("date", "time", "date-time", "email", "uri", "uuid", None)
PLAIN = st.builds(
    Schema,
    types=st.sampled_from(JSON_TYPES).map(lambda name: (name,)),
    format=st.sampled_from(FORMATS),
    minimum=st.none() | st.integers(-9, 9),
    min_items=st.none() | st.integers(1, 3),
)
PARAMETERS = st.lists(
    st.builds(Parameter, name=st.sampled_from("abc"), shape=PLAIN, required=st.booleans()),
    unique_by=lambda parameter: parameter.name,
).map(tuple)
NESTED = PLAIN | st.builds(Schema, types=st.just(("object",)), properties=PARAMETERS)
LISTS = st.builds(Schema, types=st.just(("array",)), items=NESTED, min_items=st.integers(1, 3))


@given(NESTED | LISTS)
def test_a_sample_fits_its_shape(shape):
    assert problems(sample(shape), shape) == ()


@given(PARAMETERS)
def test_sample_arguments_are_those_that_are_required(parameters):
    assert sample_arguments(parameters).keys() == {p.name for p in parameters if p.required}


def test_the_authors_values_are_used_before_generated_ones():
    text = Schema(types=("string",), enum=("red", "blue"))
    assert sample(text) == "red"
    assert sample(Schema(types=("string",), has_default=True, default="x")) == "x"
    assert sample(Schema(types=("string",), has_example=True, example="y")) == "y"


def test_a_text_without_constraints_comes_from_the_caller():
    assert sample(Schema(types=("array",), items=Schema(types=("string",))), "…") == ["…"]
