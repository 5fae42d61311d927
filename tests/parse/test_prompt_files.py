"""Prompt files: arguments in the parameter grammar, and text that names them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._parse import parse_prompt

HEAD = "# Greet\n\nGreets somebody.\n\n## Arguments\n\n### name\n\n- **Type**: string\n\n"
PROMPT = HEAD + "## Prompt\n\nGreet {name}.\n"


def codes(text: str) -> set[str]:
    return {str(one.code) for one in parse_prompt(text, "p/greet.prompt.md")[1]}


def test_a_prompt_takes_its_name_from_its_file_and_needs_no_metadata() -> None:
    spec, found = parse_prompt(PROMPT, "p/greet-warmly.prompt.md")

    assert found == ()
    assert spec is not None
    assert (spec.name, spec.title, spec.description) == (
        "greet_warmly", "Greet", "Greets somebody.",
    )  # fmt: skip
    assert [one.name for one in spec.parameters] == ["name"]


def test_front_matter_names_a_prompt() -> None:
    front = "---\nname: hello\n---\n\n"

    spec, found = parse_prompt(front + PROMPT, "greet.prompt.md")

    assert found == ()
    assert spec is not None
    assert spec.name == "hello"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (HEAD + "## Prompt\n\nGreet {nmae}.\n", "prompt-argument"),
        (HEAD + "## Prompt\n\nGreet {{name}}.\n", "prompt-argument"),
        (HEAD + "## Prompt\n\n", "missing-section"),
        (HEAD, "missing-section"),
        (PROMPT + "\n## Steps\n\n1. Go.\n", "misplaced-field"),
        (PROMPT + "\n- **Requires Confirmation**: yes\n", "misplaced-field"),
        (PROMPT.replace("string\n", "string\n- **Verbatim**: yes\n"), "misplaced-field"),
        (PROMPT.replace("string\n", "string\n- **Accepts Handle**: yes\n"), "misplaced-field"),
        (PROMPT.replace("**Type**: string", "**Minimum**: x"), "unreadable-value"),
    ],
)
def test_text_that_can_not_be_read_as_a_prompt_is_an_error(text: str, code: str) -> None:
    spec, _ = parse_prompt(text, "greet.prompt.md")

    assert spec is None
    assert code in codes(text)


def test_an_error_names_the_line_of_the_argument() -> None:
    _, found = parse_prompt(HEAD + "## Prompt\n\nHello.\n\nGreet {nmae}.\n", "greet.prompt.md")
    error = next(one for one in found if "nmae" in one.message)

    assert (error.span.line, error.span.column) == (15, 7)
    assert "name" in error.help


def test_an_argument_that_is_not_in_the_text_is_a_warning() -> None:
    spec, _ = parse_prompt(HEAD + "## Prompt\n\nHello.\n", "greet.prompt.md")

    assert spec is not None
    assert codes(HEAD + "## Prompt\n\nHello.\n") == {"prompt-argument"}


@given(st.text())
def test_a_value_stands_in_the_text_as_it_is(value: str) -> None:
    spec, _ = parse_prompt(PROMPT, "greet.prompt.md")

    assert spec is not None
    assert spec.filled({"name": value}) == f"Greet {value}."
