"""Findings in a skill's steps, each with its place."""

import textwrap
from pathlib import Path
from typing import Any

import pytest
from markdown_it.utils import read_fixture_file
from run_world import skill, tool

from toolmd._parse import parse_skill
from toolmd._skills.check import check_skill
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.skill import SkillSpec

SLOT = """- **Type**: array
- **Items**:
  - **Type**: object
  - **Properties**:
    - `time` (string, required)
    - `room` (integer, required)
"""
TOOLS = {
    spec.name: spec
    for spec in (
        tool("find", "- `day` (string, required)\n- `limit` (integer)", SLOT,
             metadata="- **Read Only**: true"),
        tool("book", "- `time` (string, required)\n- `kind` (string, required)\n"
             "  - **Enum**: exam, cleaning\n- `notes` (array of string)",
             "- **Type**: object\n- **Properties**:\n  - `id` (string, required)"),
        tool("cancel", "- `id` (string, required)"),
        tool("ward", metadata="- **Requires Patient Context**: true"),
    )
}  # fmt: skip
INPUTS = """### day

- **Type**: string
- **Required**: true
- **Description**: the day

### count

- **Type**: number
- **Required**: true
- **Description**: how many

### note

- **Type**: string
- **Description**: a word
"""
FIND = """1. **Find**
   - **Use**: find
   - **With**:
     - day: `day`
   - **Save as**: slots
"""


def found(
    steps: str,
    tools: str = "find, book, cancel",
    *,
    metadata: str = "",
    skills: tuple[SkillSpec, ...] = (),
    inputs: str = INPUTS,
) -> list[Diagnostic]:
    spec = skill(textwrap.dedent(steps), tools, inputs, metadata=metadata)
    others = {other.name: other for other in (*skills, spec)}
    given = check_skill(spec, TOOLS, others)
    return [d for d in given if d.code != "unused-requirement"]


def only(steps: str, tools: str = "find, book, cancel", **more: Any) -> Diagnostic:
    [one] = found(steps, tools, **more)
    return one


CASES = Path(__file__).parents[1] / "cases" / "step-mistakes.md"


@pytest.mark.parametrize(
    ("line", "title", "text", "expected"),
    read_fixture_file(CASES),
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_an_error_in_a_step_has_its_place_and_a_remedy(
    line: int, title: str, text: str, expected: str
) -> None:
    del line, title
    assert "".join(f"{finding}\n" for finding in found(text)) == expected


def test_an_error_has_the_column_of_its_expression() -> None:
    one = only(FIND + "2. **Pick**\n   - **Choose**: `slots.map(s, s.tme)`\n")
    assert one.span.column == len("   - **Choose**: `slots.map(s, s.") + 1


def test_correct_steps_have_no_findings() -> None:
    steps = (
        FIND
        + """
2. **Pick**
   - **Choose**: `slots.sortBy(s, s.time).first()`
   - **Or else**: stop "Nothing on {day}."
   - **Save as**: slot
3. **Book**
   - **Ask**: Take {slot.time} in room {slot.room}?
   - **If no**: go to Another day
   - **Use**: book
   - **With**:
     - time: `slot.time`
     - kind: exam
     - notes:
       - first
       - Room {slot.room}
   - **Save as**: booking
   - **Undo**: cancel
     - id: `booking.id`
4. **Return**: Booked {slot.time}.
   - id: `booking.id`

### Another day

1. **Look**
   - **For each**: next in `next_days(day, 3)`
   - **At Once**: 3
   - **Use**: find
   - **With**:
     - day: `next`
     - limit: 1
   - **Save as**: tries
2. **Stop**: Free: {tries.filter(t, size(t) > 0).map(t, t[0].time)}, not {slot.time}.
"""
    )
    assert found(steps) == []


def test_a_jump_backwards_is_an_error() -> None:
    steps = (
        FIND
        + """   - **If empty**: go to Later

### Earlier

1. **Stop**: Earlier.

### Later

1. **Ask**
   - **Ask**: Again?
   - **If no**: go to Earlier
"""
    )
    codes = {d.code: d for d in found(steps)}
    assert "leads back" in codes["jump-backwards"].message


def test_a_name_set_on_one_path_only_may_be_unset_later() -> None:
    steps = """
1. **Find**
   - **Use**: find
   - **With**:
     - day: `day`
   - **Save as**: slots
   - **If empty**: go to End
   - **On error**: go to End
2. **Count**
   - **Choose**: `slots.size()`
   - **Save as**: number
   - **If empty**: go to End

### End

1. **Stop**: There were {number}.
"""
    assert [d.code for d in found(steps)] == ["may-be-unset"]


def test_a_skipped_step_leaves_its_name_unset() -> None:
    steps = FIND.replace("   - **Save", "   - **When**: `count > 1`\n   - **Save") + (
        "2. **Say**\n   - **Ask**: {}?\n"
    )
    assert only(steps.replace("{}", "{slots.size()}")).code == "may-be-unset"
    assert found(steps.replace("{}", "{has(slots) ? slots.size() : 0}")) == []
    guarded = steps.replace(
        "   - **Ask**: {}", "   - **When**: `has(slots)`\n   - **Ask**: {slots}"
    )
    assert found(guarded) == []


def test_an_optional_input_may_be_left_out_of_an_optional_argument() -> None:
    optional = FIND.replace("day: `day`", "day: `day`\n     - limit: `most`")
    inputs = INPUTS + "\n### most\n\n- **Type**: integer\n- **Description**: at most\n"
    assert found(optional, inputs=inputs) == []


def test_an_unused_requirement_is_reported() -> None:
    spec = skill(FIND, "find, book", INPUTS)
    [one] = check_skill(spec, TOOLS, {})
    assert (one.code, one.severity) == ("unused-requirement", Severity.WARNING)
    assert "book" in one.message


def test_a_missing_required_tool_is_an_error_with_a_suggestion() -> None:
    one = only(FIND, "find, boook")
    assert one.code == "unknown-tool"
    assert "'book'" in one.help
    assert "`zzz.tool.md`" in only(FIND, "find, zzz").help


def test_skills_in_a_cycle_are_an_error() -> None:
    steps = "1. **Use it**\n   - **Use**: other\n"
    other = skill("1. **Back**\n   - **Use**: trial\n", name="other",
                  metadata="- **Required Skills**: trial\n")  # fmt: skip
    one = only(steps, "", metadata="- **Required Skills**: other\n", skills=(other,))
    assert one.code == "skill-circle"
    assert "trial → other → trial" in one.message


@pytest.mark.parametrize(
    ("metadata", "severity", "says"),
    [
        ("", "hint", "no input supplies it"),
        ("- **Context**: patient from dya\n", "error", "not an input"),
        ("- **Context**: ward from day\n", "hint", "no input supplies it"),
        ("- **Patient From**: dya\n", "error", "not an input"),
        ("- **Patient From**: count\n", "error", "not a string"),
    ],
)
def test_a_tool_that_needs_a_patient_needs_an_input_that_supplies_it(
    metadata: str, severity: str, says: str
) -> None:
    one = only("1. **Ward**\n   - **Use**: ward\n", "ward", metadata=metadata)
    assert (one.code, one.severity) == ("context", severity)
    assert says in one.message
    assert (
        found("1. **Ward**\n   - **Use**: ward\n", "ward", metadata="- **Patient From**: day\n")
        == []
    )


def test_the_help_for_a_missing_fact_names_the_caller_before_the_input() -> None:
    one = only("1. **Ward**\n   - **Use**: ward\n", "ward")
    assert one.message.startswith("ward requires the context `patient`")
    assert one.help.startswith("the caller should supply the patient")
    assert one.help.endswith("trusts the input, which a model may write")


def test_a_prose_workflow_is_a_hint_and_hides_no_more_than_hints() -> None:
    spec, _ = parse_skill(
        "# Prose\n\nA skill.\n\n## Metadata\n\n- **Name**: prose\n- **Version**: 1.0.0\n"
        "- **Category**: test\n- **Required Tools**: nothing_there, ward\n\n## Workflow\n\n"
        "1. Check availability\n2. Book it\n\n## Input Schema\n\nNone\n\n## Output Schema\n\n"
        "- **Type**: object\n",
        "prose.skill.md",
    )
    assert spec is not None
    given = check_skill(spec, TOOLS, {})
    assert {d.code for d in given} == {"not-executable", "unknown-tool", "context"}
    assert {d.severity for d in given} == {Severity.HINT}
    implemented = check_skill(spec, TOOLS, {}, implemented=True)
    assert {(d.code, d.severity) for d in implemented} == {
        ("unknown-tool", Severity.ERROR),
        ("context", Severity.HINT),
    }
