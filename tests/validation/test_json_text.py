"""JSON text of arguments: one object, no duplicates, no NaN, bounded depth."""

import json
from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._validation import MalformedError, read_object

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
WRITERS = st.sampled_from([json.dumps, partial(json.dumps, ensure_ascii=False)])
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)


@given(OBJECTS, WRITERS)
def test_any_json_object_is_read_as_the_json_module_reads_it(
    value: dict[str, Any], dump: Callable[[Any], str]
) -> None:
    text = dump(value)
    assert read_object(text) == value
    assert read_object(text.encode()) == value
    assert read_object(value) == value


@given(OBJECTS, KEYS, VALUES, VALUES, WRITERS)
def test_a_duplicate_key_is_rejected_at_every_depth(
    around: dict[str, Any], key: str, first: Any, second: Any, dump: Callable[[Any], str]
) -> None:
    twice = f"{{{dump(key)}: {dump(first)}, {dump(key)} : {dump(second)}}}"
    inner = f'{{"outer": [{dump(around)}, {twice}]}}'
    for text in (twice, inner):
        with pytest.raises(MalformedError, match="occurs twice"):
            read_object(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a" :1,"a":2}',
        '{"a":1,"\\u0061":2}',
        '{"a":{"b":[{"c":1,"c":1}]}}',
        '{"a":":","a":"::"}',
    ],
)
def test_no_spelling_hides_a_duplicate_key(text: str) -> None:
    with pytest.raises(MalformedError, match="occurs twice"):
        read_object(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": [{"b": -1e999}]}',
        '{"a": ' + "9" * 400 + ".0}",
        '{"a": ' + "9" * 5000 + "}",
        '{"a": "\\ud800"}',
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": 1} {}',
        "[]",
        '"{}"',
        "null",
        "",
        "{",
        '{"a":' * 40 + "1" + "}" * 40,
        '{"a":' + "[" * 32 + "]" * 32 + "}",
        "[" * 100_000,
    ],
)
def test_text_that_is_not_one_json_object_is_rejected_with_a_reason(text: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read_object(text)
    assert len(str(caught.value)) < 200


def test_thirty_two_levels_are_read() -> None:
    text = '{"a":' + "[" * 31 + "]" * 31 + "}"
    assert read_object(text) == json.loads(text)


def test_brackets_inside_strings_are_not_levels() -> None:
    assert read_object('{"a": "' + "[" * 50 + '"}') == {"a": "[" * 50}


def test_bytes_that_are_not_utf8_are_rejected_with_the_offset() -> None:
    with pytest.raises(MalformedError, match="byte 6"):
        read_object(b'{"a":"\xff"}')


@pytest.mark.parametrize(
    "value",
    [
        {"a": float("nan")},
        {"a": [float("inf")]},
        {1: "a"},
        {"a": (1, 2)},
        {"a": {1, 2}},
        {"a": object()},
        {"a": "\ud800"},
        {"\udfff": 1},
        [1],
        None,
        7,
    ],
)
def test_a_python_value_outside_json_is_rejected(value: Any) -> None:
    with pytest.raises(MalformedError):
        read_object(value)


def test_a_value_that_contains_itself_is_rejected() -> None:
    knot: dict[str, Any] = {}
    knot["knot"] = knot
    with pytest.raises(MalformedError, match="deeper"):
        read_object(knot)


def test_a_parsed_value_shares_nothing_with_its_input() -> None:
    inner = [1]
    read = read_object(MappingProxyType({"a": inner}))
    inner.append(2)
    assert read == {"a": [1]}
