"""The conversion of `key=value` on the command line."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._cli.arguments import convert, convert_arguments
from toolmd._types.field import JsonType
from toolmd._types.schema import Parameter, Schema


def shape(*types: JsonType, **fields: Any) -> Schema:
    return Schema(types=types, **fields)


TEXTS = shape("array", items=shape("string"))
NUMBERS = shape("array", items=shape("integer"))

CASES: list[tuple[Schema, str, Any]] = [
    (shape("string"), "12", "12"),
    (shape("string"), "true", "true"),
    (shape("string"), '{"a": 1}', '{"a": 1}'),
    (shape("string"), "a=b", "a=b"),
    (shape("integer"), "12", 12),
    (shape("integer"), "12.5", 12.5),
    (shape("integer"), "twelve", "twelve"),
    (shape("number"), "-1e3", -1000.0),
    (shape("number"), "NaN", "NaN"),
    (shape("number"), "Infinity", "Infinity"),
    (shape("number"), "1e999", "1e999"),
    (shape("boolean"), "TRUE", True),
    (shape("boolean"), "yes", "yes"),
    (shape("object"), '{"a": [1]}', {"a": [1]}),
    (shape("object"), "{a}", "{a}"),
    (TEXTS, "Ana, Ben", ["Ana", "Ben"]),
    (TEXTS, '["Ana, Ben"]', ["Ana, Ben"]),
    (TEXTS, "", []),
    (TEXTS, "1,2", ["1", "2"]),
    (NUMBERS, "1,2", [1, 2]),
    (NUMBERS, "1,x", [1, "x"]),
    (shape("array"), "a,b", ["a", "b"]),
    (shape("string", "array"), "a,b", "a,b"),
    (shape("string", "array"), '["a"]', ["a"]),
    (shape("string", "null"), "null", None),
    (shape("string", "integer"), "7", 7),
    (shape(), "7", 7),
    (shape(), "seven", "seven"),
]


@pytest.mark.parametrize(("kind", "text", "value"), CASES)
def test_a_value_is_read_as_its_type_reads_it(kind: Schema, text: str, value: Any) -> None:
    read = convert(text, kind)
    assert read == value
    assert type(read) is type(value)


@given(st.text())
def test_text_stays_text(text: str) -> None:
    assert convert(text, shape("string")) == text


@given(st.text(), st.sampled_from([shape("integer"), shape("object"), NUMBERS, shape()]))
def test_no_text_makes_it_fail(text: str, kind: Schema) -> None:
    convert(text, kind)


PARAMETERS = (Parameter(name="names", shape=TEXTS), Parameter(name="day", shape=shape("string")))


def test_a_key_given_again_adds_to_a_list() -> None:
    given_twice = convert_arguments(["names=Ana", "names=Ben,Cleo", "day=x"], PARAMETERS)
    assert given_twice == {"names": ["Ana", "Ben", "Cleo"], "day": "x"}


def test_a_key_given_twice_is_an_error_elsewhere() -> None:
    with pytest.raises(ValueError, match="'day' is given twice"):
        convert_arguments(["day=x", "day=y"], PARAMETERS)


@pytest.mark.parametrize("word", ["names", "=x", ""])
def test_a_word_without_a_key_is_an_error(word: str) -> None:
    with pytest.raises(ValueError, match="is not of the form key=value"):
        convert_arguments([word], PARAMETERS)


def test_an_unknown_key_is_left_to_the_dispatcher() -> None:
    assert convert_arguments(["dya=2"], PARAMETERS) == {"dya": "2"}
