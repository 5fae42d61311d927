"""JSON that two readers could understand differently is rejected, wherever it is read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._validation.strict_json import JsonError, decode, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=10,
)  # fmt: skip


@given(VALUES, st.booleans())
def test_what_is_written_is_read_back(value: object, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert read_json(f" \n{text}\t") == value
    assert decode(f"x{text}", 1) == (value, len(text) + 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "a": 2}', 'the key "a" occurs twice'),
        ('[{"b": {"c": 1, "c": 1}}]', 'the key "c" occurs twice'),
        ("NaN", "NaN is not a JSON number"),
        ("9" * 5000, "an integer has more than 4,300 digits"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("1e999", "outside the range"),
        (r'"\ud800"', "unpaired surrogate"),
        ("[" * 33 + "]" * 33, "deeper than 32 levels"),
        ("[" * 100_000, "deeper than 32 levels"),
        ("{} {}", "Extra data at character 3"),
        ('"a\nb"', "Invalid control character"),
        ("", "Expecting value at character 0"),
    ],
)
def test_ambiguous_text_is_rejected_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(JsonError, match=reason):
        read_json(text)


def test_an_error_has_its_line_and_column() -> None:
    with pytest.raises(JsonError) as caught:
        read_json('{\n  "a": }')
    assert (caught.value.line, caught.value.column) == (2, 8)
    assert caught.value.reason == "Expecting value"


def test_a_caller_may_allow_more_levels_and_halves_of_pairs() -> None:
    assert read_json("[" * 40 + "]" * 40, depth=40)
    assert read_json(r'"\ud800"', halves=True) == "\ud800"
