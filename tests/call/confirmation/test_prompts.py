"""The prompt of a pending call names the tool and every argument in plain words."""

import pytest

from toolmd._call.confirmations import prompt_of
from toolmd._types.call_spec import Safety

VALUES = {
    "a text": ("Walk  the\ndog", "Walk the dog"),
    "an empty text": ("", ""),
    "a number": (1.5, "1.5"),
    "yes": (True, "true"),
    "nothing": (None, "null"),
    "a list": ([1, "a b", None], "1,a b,null"),
    "an empty list": ([], "none"),
    "a list of lists": ([[1], [2]], "[[1], [2]]"),
    "a list of objects": ([1, {"a": "é"}], '[1, {"a": "é"}]'),
    "an object": ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
}


@pytest.mark.parametrize("what", VALUES)
def test_every_argument_is_named_with_its_value(tool, what):
    value, told = VALUES[what]
    spec = tool("log-my_dose").spec
    assert prompt_of(spec, {"x": value, "y": 2}, {"x": value, "y": 2}) == (
        f"I'd like to log my dose: x: {told}, y: 2. Is this correct?"
    )


def test_a_call_without_arguments_names_its_tool(tool):
    assert prompt_of(tool("act").spec, {}, {}) == "I'd like to act. Is this correct?"
    critical = tool("act", safety=Safety(sensitivity="critical")).spec
    assert prompt_of(critical, {}, {}) == (
        "I'd like to act. Please confirm these details are correct."
    )


def test_a_default_that_the_call_did_not_give_is_not_named(tool):
    shown = {"x": 1, "y": 2}
    assert prompt_of(tool("act").spec, shown, '{"x": 1}') == (
        "I'd like to act: x: 1. Is this correct?"
    )
