"""A single skill file is checked without its project."""

import json

import pytest

SKILL = """\
# Close Month

Close the month of the payroll.

## Metadata

- **Name**: close_month
- **Version**: 1.0.0
- **Category**: payroll
- **Required Tools**: sum_hours

## Workflow

{steps}

## Input Schema

### month

- **Type**: string
- **Required**: true

## Output Schema

- **Type**: object (SkillResult)
"""
SUM = "1. **Sum**.\n   - **Use**: sum_hours\n   - **With**:\n     - month: `month`\n"


@pytest.mark.parametrize(
    ("steps", "code", "severity", "line", "column"),
    [
        ("1. Sum the hours\n2. Pay them", "not-executable", "hint", 1, 1),
        (SUM.replace("sum_hours", "pay_out"), "not-required", "error", 15, 15),
        (SUM.replace("`month`", "`mnth`"), "invalid-expression", "error", 17, 16),
        (f"{SUM}   - **If empty**: go to Nobody", "unknown-jump", "error", 18, 20),
        (f"{SUM}   - **Save as**: month", "duplicate-save", "error", 18, 19),
        (f"{SUM}\n2. **Return**:\n   - a: `hours`", "invalid-expression", "error", 20, 10),
    ],
)
def test_a_mistake_within_the_file_is_found(console, steps, code, severity, line, column):
    file = console.write("close-month.skill.md", SKILL.format(steps=steps))
    typed = console("check", "--json", str(file))
    found = [d for d in json.loads(typed.out) if d["code"] != "unused-requirement"]
    assert [(d["code"], d["severity"], d["line"], d["column"]) for d in found] == [
        (code, severity, line, column)
    ]
    assert typed.code == (0 if severity == "hint" else 1)


def test_unknown_tools_are_not_reported_for_a_single_file(console):
    steps = f"{SUM}   - **Save as**: hours\n\n2. **Return**:\n   - total: `hours.total`"
    file = console.write("close-month.skill.md", SKILL.format(steps=steps))
    typed = console("check", str(file))
    assert (typed.code, typed.err) == (0, "All well: 1 file.\n")


def test_python_next_to_a_single_file_replaces_its_prose(console):
    file = console.write("close-month.skill.md", SKILL.format(steps="1. Sum\n2. Pay"))
    console.write("close_month.py", "def close_month(month): ...\n")
    assert json.loads(console("check", "--json", str(file)).out) == []


def test_a_name_in_the_metadata_is_reported_at_its_place(shop):
    shop.write("skills_md/close-month.skill.md", SKILL.format(steps=SUM))
    found = json.loads(shop("check", "--json").out)
    assert [(d["code"], d["line"], d["column"], d["end_column"]) for d in found][:1] == [
        ("unknown-tool", 10, 23, 32)
    ]
