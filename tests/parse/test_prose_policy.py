"""A policy only in prose is reported; one that a field enforces is not."""

import pytest

from toolmd._parse import lint_tool, parse_tool

TOOL = """\
# Book

{description}

## Metadata

- **Name**: book
- **Version**: 1.0.0
- **Category**: general

## Parameters

None

## Returns

- **Type**: object
- **Description**: The booking
{more}"""


def policies(description: str, more: str = "") -> list[str]:
    text = TOOL.format(description=description, more=more)
    spec, diagnostics = parse_tool(text, "book.tool.md")
    assert spec is not None
    assert diagnostics == ()
    return [f"{d.span.line}:{d.span.column} {d.code}" for d in lint_tool(spec, text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Only call after user confirms.",
        "The parent must have agreed before this is called.",
        "Requires the user's consent.",
        "Call it only when the user explicitly asks for it.",
        "Requires confidence above 0.8.",
        "The user must be authenticated.",
    ],
)
def test_a_restricting_sentence_is_reported_at_its_place(sentence):
    assert policies(f"Book a visit. {sentence}") == ["3:15 prose-policy"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Book a visit and send the confirmation.",
        "Gives back the booking confirmation with its details.",
        "May include approved fields only.",
    ],
)
def test_a_describing_sentence_is_not_reported(sentence):
    assert policies(sentence) == []


def test_a_policy_that_a_field_enforces_is_not_reported():
    safety = "\n## Safety\n\n- **Requires Confirmation**: true\n"
    assert policies("Book. Only call after user confirms.", safety) == []


def test_parsing_alone_does_not_report_it():
    text = TOOL.format(description="Book. Only call after user confirms.", more="")
    assert parse_tool(text, "book.tool.md")[1] == ()
