"""The form of a question: its fields, and the values that it returns."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from toolmd._mcp.asking import form
from toolmd._types.schema import Parameter, Schema
from toolmd._workspace.results import changed

VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers())


@given(st.dictionaries(st.text(max_size=3), VALUES), st.dictionaries(st.text(max_size=3), VALUES))
def test_the_changed_values_of_a_form_are_returned(
    arguments: dict[str, Any], content: dict[str, Any]
) -> None:
    edit = changed(arguments, content)

    assert {**arguments, **edit} == {**arguments, **content}
    assert changed(arguments, arguments) == {}


def test_true_is_not_one_in_a_form() -> None:
    assert changed({"a": 1, "b": True}, {"a": True, "b": 1}) == {"a": True, "b": 1}


def test_a_union_or_an_object_is_not_in_a_form() -> None:
    shapes = [Schema(types=("string", "null")), Schema(types=("object",)), Schema()]
    parameters = tuple(Parameter(name=f"p{i}", shape=shape) for i, shape in enumerate(shapes))

    made = form(parameters, {"p0": "a", "p1": {}, "p2": 1}, "2026-07-28")

    assert made == {"type": "object", "properties": {}}


def test_many_of_an_enum_are_a_field_since_2025_11_25() -> None:
    items = Schema(types=("string",), enum=("a", "b"))
    parameters = (Parameter(name="many", shape=Schema(types=("array",), items=items)),)

    assert form(parameters, {"many": ["a"]}, "2025-06-18")["properties"] == {}
    assert set(form(parameters, {"many": ["a"]}, "2025-11-25")["properties"]) == {"many"}
