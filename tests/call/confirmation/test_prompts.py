"""The prompt of a pending call names the tool and every argument, and no two values alike."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolmd._call.prompts import prompt_of
from toolmd._types.call_spec import Safety
from toolmd._types.visible import visible

VALUES = {
    "a text": ("Walk the dog", "Walk the dog"),
    "an empty text": ("", '""'),
    "a number": (1.5, "1.5"),
    "yes": (True, "true"),
    "nothing": (None, "null"),
    "a list": ([1, "a b", None], "1,a b,null"),
    "an empty list": ([], "[]"),
    "a time": ("09:00", "09:00"),
    "a text with a comma": ("bob, amount: 1", '"bob, amount: 1"'),
    "a text with a line break": ("echo\nrm\r", '"echo\\nrm\\r"'),
    "a run of spaces": ("ok" + " " * 500 + "rm", '"ok<U+0020 times 500>rm"'),
    "spaces at the ends": (" a ", '" a "'),
    "a text like a number": ("1", '"1"'),
    "a text like a list": ("[a]", '"[a]"'),
    "a text with a sign's name": ("<U+200B>", '"\\<U+200B>"'),
    "what can't be seen": (
        "a\u200bb\u00adc\ufeffd\U000e0041",
        "a<U+200B>b<U+00AD>c<U+FEFF>d<U+E0041>",
    ),
    "an escape sequence": ("\x1b[2J", "<U+001B>[2J"),
    "an order of signs": ("a\u202eb\u2028c\u00a0d\u3164", "a<U+202E>b<U+2028>c<U+00A0>d<U+3164>"),
    "a variation": ("a\ufe0f\U000e0100", "a<U+FE0F><U+E0100>"),
    "a list of one": (["a"], "[a]"),
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


_SIGNS = st.sampled_from(list('ab1 ,:.;"\\[]{}()<U+200B>\n\r\t\u200b\u00a0\u202e\ufe0f…'))
_TEXTS = (
    st.text(_SIGNS, max_size=6) | st.text(max_size=4) | st.sampled_from(["null", "true", "1.0"])
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, 1e22]) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=2),
    max_leaves=6,
)


@given(_VALUES, _VALUES, _VALUES, _VALUES)
@example("a", "b, y: c", "a, y: b", "c")
@example("a" * 3000, 1, "a" * 2999 + "b", 1)
@example(["a,b"], 1, ["a", "b"], 1)
@example("", None, None, "")
def test_two_calls_with_different_values_never_have_the_same_prompt(tool, x1, y1, x2, y2):
    spec = tool("act").spec
    one, two = {"x": x1, "y": y1}, {"x": x2, "y": y2}
    if json.dumps(one) != json.dumps(two):
        assert prompt_of(spec, one, one) != prompt_of(spec, two, two)
    shown = prompt_of(spec, one, one)
    assert visible(shown) == shown
    assert "  " not in shown


def test_a_long_value_is_cut_with_its_length_and_its_hash(tool):
    prompt = prompt_of(tool("act").spec, {"x": "a" * 5000}, {"x": ""})
    assert "5000 characters, SHA-256 " in prompt
    assert len(prompt) < 700


CONSOLE = Path(__file__).parents[3] / "framework/toolmd/_http/console/assets/parts.js"
PRINT_HIDDEN = f"""
import {{ visible }} from {json.dumps(CONSOLE.as_uri())};
const signs = Array.from({{ length: 0x110000 }}, (_, number) => number);
console.log(JSON.stringify(signs.filter((number) => {{
  const sign = String.fromCodePoint(number);
  return visible(sign) !== sign;
}})));
"""


def hidden_in_the_console():
    """Return the code points that the console shows by number, by node or from the pattern."""
    if node := shutil.which("node"):
        command = [node, "--input-type=module", "-e", PRINT_HIDDEN]
        return set(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))
    (written,) = re.findall(r"HIDDEN = .*?(\[\\x00.*\])/gu", CONSOLE.read_text("utf-8"))
    pattern = re.compile(re.sub(r"\\u\{(\w+)\}", lambda m: rf"\U{m[1]:0>8}", written))
    return {n for n in range(0x110000) if pattern.fullmatch(chr(n))} - {*map(ord, "\t\n")}


def test_the_console_hides_what_a_prompt_hides_except_tabs_and_line_breaks():
    hidden = {n for n in range(0x110000) if visible(chr(n)) != chr(n)}
    assert hidden_in_the_console() == hidden - {*map(ord, "\t\n")}
    of_python = {n for n in range(0x110000) if category(chr(n)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert of_python <= hidden
    spaces = {n for n in range(0x110000) if category(chr(n)) == "Zs"} - {0x20}
    assert {n for n in range(0x110000) if visible(chr(n), blanks=True) != chr(n)} == hidden | spaces
