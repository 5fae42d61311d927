"""Sensitive values are hidden at every depth wherever arguments are stored or shown."""

import pytest

from toolmd._types.schema import Parameter, Schema
from toolmd._validation.redact import Secrets, changes, redacted, redacted_value

OPEN = Schema(types=("string",))
SECRET = Schema(types=("string",), sensitive=True)
BELOW = Schema(
    types=("object",),
    properties=(Parameter(name="pin", shape=SECRET), Parameter(name="name", shape=OPEN)),
    values=SECRET,
)
CASES = {
    "a value": (SECRET, "hunter2", "(hidden)", "hunter2"),
    "an open value": (OPEN, "Ada", "Ada", ""),
    "a whole list": (Schema(types=("array",), sensitive=True), ["a", ["b"]], "(hidden)", "a b"),
    "a whole object": (Schema(types=("object",), sensitive=True), {"k": "a"}, "(hidden)", "a"),
    "an item": (Schema(items=SECRET), ["a", "b"], ["(hidden)", "(hidden)"], "a b"),
    "a field": (BELOW, {"pin": "a", "name": "b"}, {"pin": "(hidden)", "name": "b"}, "a"),
    "another field": (BELOW, {"name": "b", "c": "d"}, {"name": "b", "c": "(hidden)"}, "d"),
    "a list of objects": (
        Schema(items=BELOW),
        [{"pin": "a"}, {"name": "b"}],
        [{"pin": "(hidden)"}, {"name": "b"}],
        "a",
    ),
    "a list of anything": (Schema(types=("array",)), ["a", {"k": "b"}], ["a", {"k": "b"}], ""),
    "an open object": (Schema(types=("object",)), {"k": ["a"]}, {"k": ["a"]}, ""),
    "a text in place of an object": (BELOW, "hunter2", "(hidden)", "hunter2"),
    "a number in place of a list": (
        Schema(types=("array",), items=SECRET),
        1234,
        "(hidden)",
        "1234",
    ),
    "a list in place of an object": (BELOW, ["a", "b"], "(hidden)", "a b"),
    "an object in place of a list": (Schema(items=SECRET), {"k": "a"}, "(hidden)", "a"),
    "a text that may stand for a list": (
        Schema(types=("string", "array"), items=SECRET),
        "Ada",
        "Ada",
        "",
    ),
    "nothing": (BELOW, None, None, ""),
    "a number": (SECRET, 1234, "(hidden)", "1234"),
    "objects below what is hidden": (
        Schema(items=Schema(types=("object",), sensitive=True)),
        [{"k": [{"l": "a"}]}],
        ["(hidden)"],
        "a",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_only_sensitive_values_are_hidden(case):
    shape, value, told, _ = CASES[case]
    assert redacted_value(value, shape) == told
    parameters = (Parameter(name="x", shape=shape), Parameter(name="y", shape=OPEN))
    assert redacted({"x": value, "y": "open", "z": "unknown"}, parameters) == {
        "x": told,
        "y": "open",
        "z": "unknown",
    }


def hidden(text, values, parameters):
    """Return a text without the Sensitive values among these."""
    secrets = Secrets()
    secrets.learn(values, parameters)
    return secrets.hide(text)


@pytest.mark.parametrize("case", CASES)
def test_only_the_words_of_sensitive_values_are_removed_from_a_text(case):
    shape, value, _, words = CASES[case]
    parameters = (Parameter(name="x", shape=shape),)
    text = "Ada hunter2 a b d k 1234 hunter3 xa a-b"
    left = " ".join(
        "-".join("(hidden)" if part in words.split() else part for part in word.split("-"))
        for word in text.split()
    )
    assert hidden(text, {"x": value, "y": "Ada"}, parameters) == left


def test_the_longer_of_two_hidden_words_is_hidden_whole():
    parameters = tuple(Parameter(name=name, shape=SECRET) for name in "xyz")
    values = {"x": "a", "y": "a b", "z": "b c"}
    assert hidden("a b, b c, a.", values, parameters) == "(hidden), (hidden), (hidden)."
    values = {"x": "z", "y": "a z"}
    assert hidden("a z", values, parameters) == "(hidden)"


@pytest.mark.parametrize("nothing", [None, "", True, False])
def test_an_empty_value_hides_nothing(nothing):
    parameters = (Parameter(name="x", shape=SECRET),)
    text = "None is True, or False."
    assert hidden(text, {"x": nothing}, parameters) == text


def test_a_change_is_described_with_both_values_and_hides_sensitive_ones():
    parameters = tuple(Parameter(name=name, shape=OPEN) for name in "abcd")
    parameters += (Parameter(name="pin", shape=SECRET),)
    before = {"a": "é", "b": [1], "c": True, "pin": "hunter2"}
    after = {"a": "ö", "b": [1], "c": 1, "d": "new", "pin": "hunter3"}
    (told,) = changes(before, after, parameters)
    pin = 'pin: "(hidden)" → "(hidden)"'
    assert told == f'The user changed a: "é" → "ö", c: true → 1, {pin}, d: null → "new".'
    assert changes({"a": "é", "b": 1}, {"b": 1}, parameters) == ('The user changed a: "é" → null.',)
    assert changes(before, before, parameters) == ()


def test_a_value_outside_json_can_be_described_too():
    (told,) = changes({"a": 1}, {"a": {2}}, (Parameter(name="a", shape=OPEN),))
    assert told == 'The user changed a: 1 → "{2}".'
