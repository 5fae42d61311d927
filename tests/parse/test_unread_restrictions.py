"""A restriction that nothing reads is an error."""

import pytest

from toolmd._parse import parse_skill, parse_tool

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


BELOW_METADATA = [
    "- **Safety**:\n  - **Requires Confirmation**: true",
    "- **Limits**:\n  - **Max Calls**: 3",
    "- **Policy**:\n  - **Requires Confirmation**: true",
    "- **Policy**:\n  - **At night**:\n    - **Timeout**: 3s",
    "- policy:\n  Max Calls: 3",
]
HEADINGS = [
    "## Requires Confirmation: true",
    "## **Max Calls**: 3",
    "## 4. Timeout - 3s",
    "## Requires Confirmation",
    "## Sensitivity\n\nhigh",
    "## Notes\n\n### Requires Confirmation: true",
    "## When to use\n\nAt the end of a month.\n\n### Max Calls\n\n3",
    "## Allowed Domains\n\n- bank.example",
    "## Allowed Roles\n\n- head\n- deputy",
    "## Allowed Roles\n\nhead",
    "## Quota\n\n- 3 calls per user per day",
    "## Safety\n\n<ul><li>Requires Confirmation: yes</li></ul>",
    "## Notes\n\n<p><b>Requires Confirmation</b>: yes</p>",
    "## Approval for big sums\n\n- **When**: at noon",
    "## Manager approval\n\n- By: head",
    "## Big sums\n\n- **When**: `amount > 100`",
    "## Notes\n\n### Approval policy\n\nBy: head",
]


def test_the_fields_of_an_approval_below_another_heading_are_errors():
    lines = "## Big sums\n\n- **When**: on Sundays\n- **By**: head"
    assert codes(f"{HEAD}{METADATA}{REST}\n{lines}\n") == ["misplaced-field"] * 2


@pytest.mark.parametrize("lines", BELOW_METADATA)
def test_a_restriction_below_an_unknown_key_of_metadata_is_an_error(lines):
    assert codes(f"{HEAD}{METADATA}{lines}\n{REST}") == ["misplaced-field"]


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_restriction_as_a_heading_is_an_error(heading):
    assert codes(f"{HEAD}{METADATA}{REST}\n{heading}\n") == ["misplaced-field"]


@pytest.mark.parametrize(
    "heading",
    [
        "## Timeout\n\nA bank answers slowly.",
        "## Rate: how it is set",
        "## Context",
        "## Payday\n\n- **When**: at noon\n- **Where**: at the bank",
        "## Author\n\n- **By**: the bank",
        "## Approval history\n\nUntil May, the head approved each wage.",
        "## Safety\n\n<details>\n\nThe bank checks the sum.\n\n</details>",
    ],
)
def test_a_heading_with_words_below_it_is_kept(heading):
    spec, _ = read(f"{HEAD}{METADATA}{REST}\n{heading}\n")
    assert spec is not None
    assert spec.sections


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
    "Requires Confirmation",
    "**Requires Confirmation**",
    "Requires confirmation by the owner of the account.",
    "> [!WARNING]\n> Requires confirmation",
    "```yaml\nrequires_confirmation: true\n```",
    "<table><tr><td>Requires Confirmation</td><td>yes</td></tr></table>",
    "| Setting | Value | Why |\n|---|---|---|\n| Requires Confirmation | yes | risk |",
    "- [ ] Requires Confirmation: yes",
    "- **Requires Confirmation**\u2192 yes",
]


@pytest.mark.parametrize("words", HIDDEN_IN_SAFETY)
def test_an_unread_field_of_safety_is_an_error(words):
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
def test_a_misspelt_section_of_restrictions_is_an_error_with_a_fix(title, line):
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
        "- Requires Confirmation",
        "- [x] Requires Auth",
        "1. **Explicit Intent**",
    ],
)
def test_a_restriction_in_a_section_of_prose_is_an_error(title, line):
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
def test_a_section_of_only_words_is_kept_under_its_title(title):
    spec, diagnostics = read(f"{HEAD}{METADATA}{REST}\n## {title}\n\nOnly clerks pay.\n")
    assert not diagnostics
    assert spec is not None
    assert spec.sections == {title: "Only clerks pay."}


def test_a_restriction_above_the_first_section_is_an_error():
    assert codes(f"{HEAD}**Requires Auth**: true\n{METADATA}{REST}") == ["misplaced-field"]
    assert codes(f"{HEAD}\n- Requires Confirmation: yes\n{METADATA}{REST}") == ["misplaced-field"]


def test_a_restriction_among_the_fields_of_the_result_is_an_error():
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
        "- **Requires Auth** yes",
        "- Requires Auth = yes",
        "- Requires Auth \u2192 yes",
        "### Requires Auth\n\nyes",
    ],
)
def test_an_unread_restriction_in_metadata_is_an_error(words):
    assert codes(f"{HEAD}{METADATA.rstrip()}\n\n{words}\n{REST}")


def test_each_line_with_a_key_is_a_field_without_bullets():
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
        "---\nrequires_auth: {for: everybody}\n---\n",
        "---\nrequires_auht: {for: everybody}\n---\n",
    ],
)
def test_an_unread_restriction_in_front_matter_is_an_error(front):
    assert codes(f"{front}{HEAD}{METADATA}{REST}")


def test_front_matter_may_follow_empty_lines():
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
        "- `amount > 0.0` and `amount < 9.0`: Pay something.",
        "- `amount > 0.0`, `amount < 9.0`",
    ],
)
def test_an_unread_rule_is_an_error(words):
    assert codes(f"{HEAD}{METADATA}{REST}\n## Rules\n\n{words}\n") == ["unreadable-rule"]


def test_a_comment_that_is_never_closed_hides_no_section():
    text = f"{HEAD}{METADATA}{REST}\n<!-- to do\n\n## Safety\n\n- **Sensitivity**: critical\n"
    assert codes(text) == ["unclosed-comment"]


def test_an_empty_pattern_is_an_error():
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


@pytest.mark.parametrize(
    "title", ["**Rules**", "__Rules__:", "> ## Rules", "- ## Rules", "Now\n#Rules"]
)
def test_a_section_of_restrictions_without_a_heading_is_an_error(title):
    inside = {">": "> ", "-": "  "}.get(title[0], "")
    text = f"{HEAD}{METADATA}{REST}\n{title}\n{inside}\n{inside}- `amount > 0.0`: Pay something.\n"
    assert codes(text)


def test_a_bold_title_above_only_words_is_prose():
    spec, diagnostics = read(f"{HEAD}\n**Limits**\n\nNone are known.\n{METADATA}{REST}")
    assert not diagnostics
    assert spec is not None


def test_metadata_only_in_a_code_fence_is_an_error():
    fence = "```yaml\nname: pay_wage\nrequires_auth: true\n```"
    assert codes(f"{HEAD}\n## Metadata\n\n{fence}\n{REST}") == ["unreadable-value"]


@pytest.mark.parametrize(
    "hosts",
    ["https://bank.example/pay", "*", "any", "bank.example pay.example", "<https://bank.example>"],
)
def test_an_invalid_host_in_allowed_domains_is_an_error(hosts):
    text = f"{HEAD}{METADATA}{REST}\n## Limits\n\n- **Allowed Domains**: {hosts}\n"
    assert codes(text) == ["unreadable-value"]


@pytest.mark.parametrize("value", ["Timeout**: 1,5s", "Max Bytes**: 1,5KB", "Max Rows**: 1,5"])
def test_a_comma_outside_thousands_is_never_dropped(value):
    assert codes(f"{HEAD}{METADATA}{REST}\n## Limits\n\n- **{value}\n") == ["unreadable-value"]


@pytest.mark.parametrize("value", ["Rate**: 3/h", "Rate**: 100/day", "Rate**: 5 per 90 minutes"])
def test_a_rate_by_the_hour_or_the_day_is_an_error(value):
    text = f"{HEAD}{METADATA}{REST}\n## Limits\n\n- **{value}\n"
    assert codes(text) == ["unreadable-value"]


@pytest.mark.parametrize("key", ["Authentcation", "Required Contxt", "Auth Requird"])
def test_a_misspelt_alias_of_a_restriction_is_an_error(key):
    assert "unknown-field" in codes(f"{HEAD}{METADATA}- **{key}**: yes\n{REST}")


@pytest.mark.parametrize("field", ["Patern**: `a`", "Minimun**: 3", "Max Lenght**: 3"])
def test_a_misspelt_bound_of_a_parameter_is_an_error(field):
    text = f"{HEAD}{METADATA}{REST}".replace("number\n", f"number\n- **{field}\n", 1)
    assert "unknown-field" in codes(text)


def test_commas_between_thousands_are_dropped():
    text = f"{HEAD}{METADATA}{REST}\n## Limits\n\n- **Max Rows**: 10,000\n- **Rate**: 1,000/min\n"
    spec, diagnostics = read(text)
    assert not diagnostics
    assert spec is not None
    assert (spec.limits.max_rows, spec.limits.rate.calls) == (10_000, 1_000)


def test_a_parameter_field_that_begins_with_a_restriction_is_an_error():
    text = f"{HEAD}{METADATA}{REST}".replace("number\n", "number\n- **Sensitive Data**: yes\n", 1)
    assert codes(text) == ["unknown-field"]


def test_another_field_of_a_parameter_is_an_error():
    text = f"{HEAD}{METADATA}{REST}".replace("number\n", "number\n- **Case Sensitive**: yes\n", 1)
    assert codes(text) == ["unknown-field"]


@pytest.mark.parametrize("other", ["1.10", "11.0"])
def test_another_version_in_front_matter_is_a_conflict(other):
    text = f"---\nversion: {other}\n---\n{HEAD}{METADATA}{REST}".replace("1.0.0", "1.1")
    assert codes(text) == ["conflict"]


@pytest.mark.parametrize(
    ("there", "here"), [("true", "yes"), ("no", "\u274c"), ("Yes", "required")]
)
def test_another_word_for_yes_in_front_matter_is_not_a_conflict(there, here):
    fields = METADATA.rstrip() + f"\n- **Requires Auth**: {here}\n"
    spec, diagnostics = read(f"---\nrequires_auth: {there}\n---\n{HEAD}{fields}{REST}")
    assert not diagnostics
    assert spec is not None
    assert spec.requires_auth is (there != "no")


def test_front_matter_of_only_comments_has_no_effect():
    spec, diagnostics = read(f"---\n# name: x\n---\n{HEAD}{METADATA}{REST}")
    assert not diagnostics
    assert spec is not None


def test_a_second_document_in_front_matter_is_an_error():
    front = "---\nname: pay_wage\n--- # more\nrequires_auth: true\n---\n"
    assert "front-matter" in codes(f"{front}{HEAD}{METADATA}{REST}")
