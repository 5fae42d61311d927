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
        "The visit must be confirmed by the parent before it is booked.",
        "Confirm with the user before calling this.",
        "The transfer is made only after the customer has approved it.",
        "Only use it with the permission of the owner.",
        "Don't call it unless the parent agreed.",
        "Call it once the user has confirmed.",
        "Shows the record only after the patient has agreed.",
        "A booking that needs confirmation must not be made without consent.",
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
        "The appointment is not confirmed until paid.",
        "A booking is confirmed only after payment.",
        "Returns whether the order was confirmed before the deadline.",
        "Lists the appointments that need confirmation.",
        "Gives the orders that require approval by the warehouse.",
        "Sends the confirmation that the courier needs.",
        "Says whether consent was given and whether the form must be signed.",
        "The list contains patients whose consent is required.",
        "Marks the requests that are still without approval.",
        "Shows which users have never confirmed their address.",
        "Shows when the login expires and must be renewed.",
        "The receipt states explicitly what was paid.",
        "Once confirmed, the order appears in the list.",
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


@pytest.mark.parametrize(
    "section",
    [
        "## The service\n\nThis only matters for children. A closed desk cannot answer.",
        "## Restrictions\n\nOnly clerks pay. Never call it without the consent of the owner.",
        "## Restrictions\n\n```text\nOnly clerks pay.\n```",
        "## Restrictions\n\nNone.",
        "## When to use\n\nOnly for children.",
        "## Limits\n\n- **Rate**: 3/s\n\nThe insurer allows a rate of at most three a second.",
        "## Safety\n\n- **Requires Confirmation**: yes\n\nOnly after the parent agreed.",
    ],
)
def test_the_prose_of_a_section_is_never_searched(section):
    assert policies("Book a visit.", f"\n{section}\n") == []
