"""A restriction that stands where nothing reads it closes the door."""

import pytest

from toolmark._parse import parse_skill, parse_tool

HEAD = """\
# Pay Wage

Pay the wage of a month.
"""
METADATA = """
## Metadata

- **Name**: pay_wage
- **Version**: 1.0.0
- **Category**: payroll
"""
REST = """
## Parameters

### amount

- **Type**: number
- **Required**: true

## Returns

- **Type**: object
- **Description**: The slip
"""


def read(text: str):
    return parse_tool(text, "pay_wage.tool.md")


def codes(text: str) -> list[str]:
    spec, diagnostics = read(text)
    assert spec is None, "it loads"
    return [d.code for d in diagnostics if d.severity == "error"]


HIDDEN_IN_SAFETY = [
    "> **Min Confidence**: 0.7",
    "    - **Min Confidence**: 0.7",
    "- - **Min Confidence**: 0.7",
    "### Min Confidence\n\n0.7",
    "### By night\n\n- **Requires Confirmation**: true",
    "Min Confidnce: 0.7",
    "**Min Confidnce**: 0.7",
    "> Min Confidnce: 0.7",
    "Paid at once.\n**Needs Approval**: yes",
    "- **Sensitivity**: low\nRequires Confirmaton: true",
    "<!-- since May --> **Requires Confirmaton**: true",
]


@pytest.mark.parametrize("words", HIDDEN_IN_SAFETY)
def test_a_field_of_safety_that_is_not_read_closes_the_door(words):
    assert codes(f"{HEAD}{METADATA}{REST}\n## Safety\n\n{words}\n")


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Saftey", "- **Min Confidence**: 0.7"),
        ("Safty", "- Requires Confirmation: sometimes"),
        ("Limit", "- **Max Calls**: 3"),
        ("Ruls", "- `amount > 0.0`: Pay something."),
    ],
)
def test_a_misspelt_section_of_restrictions_is_refused_with_a_fix(title, line):
    text = f"{HEAD}{METADATA}{REST}\n## {title}\n\n{line}\n"
    spec, diagnostics = read(text)
    assert spec is None
    found = next(d for d in diagnostics if d.code == "misspelt-section")
    assert (found.severity, found.span.column) == ("error", 4)
    assert found.fix


@pytest.mark.parametrize("title", ["Guardrails", "Safety and limits", "Notes", "1. Safe use"])
@pytest.mark.parametrize(
    "line",
    [
        "- **Requires Confirmation**: true",
        "Min Confidence: 0.8",
        "| Sensitivity | critical |\n|---|---|",
        "> Allowed Domains: bank.example",
        "- Calls\n  - **Rate**: 3/min",
    ],
)
def test_a_restriction_in_a_section_of_prose_closes_the_door(title, line):
    assert "misplaced-field" in codes(f"{HEAD}{METADATA}{REST}\n## {title}\n\n{line}\n")


@pytest.mark.parametrize(
    "words",
    [
        "- **Sensitivity**: how strongly the scale reacts",
        "- Confirm: the slip is shown to the clerk",
        "Confidence: banks answer slowly",
        "```\nRequires Confirmation: true\n```",
        "Rate: see the tariff",
    ],
)
def test_a_sentence_that_begins_with_such_a_word_is_prose(words):
    spec, diagnostics = read(f"{HEAD}{METADATA}{REST}\n## Notes\n\n{words}\n")
    assert not diagnostics
    assert spec is not None
    assert "Notes" in spec.sections


@pytest.mark.parametrize("title", ["Limitations", "Roles", "Samples", "Saftey"])
def test_a_section_of_words_alone_is_kept_under_its_title(title):
    spec, diagnostics = read(f"{HEAD}{METADATA}{REST}\n## {title}\n\nOnly clerks pay.\n")
    assert not diagnostics
    assert spec is not None
    assert spec.sections == {title: "Only clerks pay."}


def test_a_restriction_above_the_first_section_closes_the_door():
    assert codes(f"{HEAD}**Requires Auth**: true\n{METADATA}{REST}") == ["misplaced-field"]
    assert codes(f"{HEAD}\n- Requires Confirmation: yes\n{METADATA}{REST}") == ["misplaced-field"]


def test_a_restriction_among_the_fields_of_the_result_closes_the_door():
    text = f"{HEAD}{METADATA}{REST}\n**Safety**\n\n- **Requires Confirmation**: yes\n"
    assert codes(text) == ["misplaced-field"]


@pytest.mark.parametrize(
    "words",
    [
        "- **Category**: payroll\n**Requires Auht**: true",
        "- **Category**: payroll\n  Requires Auht: true",
        "> Requires Auth: true",
        "| Field | Value | Note |\n|---|---|---|\n| Requires Auth | yes | |",
        "- **Timeout**: 3s",
    ],
)
def test_a_restriction_that_metadata_does_not_read_closes_the_door(words):
    assert codes(f"{HEAD}{METADATA.rstrip()}\n\n{words}\n{REST}")


def test_lines_of_keys_without_bullets_are_fields_each():
    lines = "Name: pay_wage\nVersion: 1.0.0\nRequires Auht: true\nCategory: payroll"
    assert codes(f"{HEAD}\n## Metadata\n\n{lines}\n{REST}") == ["unknown-field"]
    spec, _ = read(f"{HEAD}\n## Metadata\n\n{lines.replace('Auht', 'Auth')}\n{REST}")
    assert spec is not None
    assert (spec.version, spec.requires_auth, spec.category) == ("1.0.0", True, "payroll")


@pytest.mark.parametrize(
    "front",
    [
        "---\nname: pay_wage\nrequires_auth: true\n\n",
        "+++\nrequires_auth = true\n+++\n",
        "---\nname: pay_wage\npolicy:\n  requires_confirmation: true\n---\n",
        "---\nrules:\n  - {min_confidence: 0.9}\n---\n",
    ],
)
def test_front_matter_whose_restriction_is_not_read_closes_the_door(front):
    assert codes(f"{front}{HEAD}{METADATA}{REST}")


def test_front_matter_may_stand_below_empty_lines():
    spec, _ = read(f"\n\n---\nrequires_auth: true\n---\n{HEAD}{METADATA}{REST}")
    assert spec is not None
    assert spec.requires_auth


@pytest.mark.parametrize(
    "words",
    [
        "`amount > 0.0`: Pay something.",
        "```\namount > 0.0\n```",
        "> - `amount > 0.0`: Pay something.",
        "### Bounds\n\n- `amount > 0.0`: Pay something.",
    ],
)
def test_what_may_be_a_rule_and_is_read_as_none_closes_the_door(words):
    assert codes(f"{HEAD}{METADATA}{REST}\n## Rules\n\n{words}\n") == ["unreadable-rule"]


def test_a_comment_that_is_never_closed_hides_no_section():
    text = f"{HEAD}{METADATA}{REST}\n<!-- to do\n\n## Safety\n\n- **Sensitivity**: critical\n"
    assert codes(text) == ["unclosed-comment"]


def test_a_pattern_that_says_nothing_closes_the_door():
    text = f"{HEAD}{METADATA}{REST}".replace("number", "string\n- **Pattern**:")
    assert codes(text) == ["unreadable-value"]


def test_a_line_of_a_description_that_names_a_restricting_field_is_that_field():
    line = "- **Type**: string\n- **Description**: The number\n  **Sensitive**: yes\n"
    spec, diagnostics = read(f"{HEAD}{METADATA}{REST}".replace("- **Type**: number\n", line))
    assert not diagnostics
    assert spec is not None
    assert (spec.parameters[0].shape.description, spec.parameters[0].shape.sensitive) == (
        "The number",
        True,
    )


def test_a_skill_has_no_safety_of_its_own():
    text = """\
# Close

Close the month.

## Metadata

- **Name**: close
- **Version**: 1.0.0
- **Category**: payroll

## Workflow

1. **Return**

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)

## Safety

- **Requires Confirmation**: true
"""
    spec, diagnostics = parse_skill(text, "close.skill.md")
    assert spec is None
    assert [d.code for d in diagnostics] == ["misplaced-field"]
