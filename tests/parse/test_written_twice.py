"""What is written twice, with a slip or in another form is read as meant, or reported as it is."""

import pytest
from tests.definitions import tool
from tests.parse.test_remarks import (
    approved_by,
    read,
    with_field,
    with_metadata,
    with_section,
)

from toolmd._parse import format_text, parse_skill, parse_tool, skill_text
from toolmd._skills.check import check_skill
from toolmd._types.approval import Escalation


def skill(steps="1. **Do**.\n   - **Use**: act", output="- **Success**: boolean - ok"):
    """Return a skill with these steps and this Output Schema."""
    return (
        "# Go\n\nGoes.\n\n## Metadata\n\n- **Name**: go\n- **Version**: 1.0.0\n"
        f"- **Category**: test\n- **Required Tools**: act\n\n## Workflow\n\n{steps}\n\n"
        f"## Input Schema\n\nNone\n\n## Output Schema\n\n{output}\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        with_metadata("- **Requires Auth**: yes\n- **Requires Auth**: true"),
        with_metadata("- **Tags**: a, b\n- **Tags**: a | b"),
        with_metadata("- **Audience**: a\n- **Audience**: a"),
        with_section("Limits", "**Timeout Seconds**: 10", "**Timeout**: 10s"),
        with_section("Limits", "**Max Rows**: 1000", "**Max Rows**: 1,000"),
        with_field("- **Max Length**: 5\n- **Maximum Length**: 5 (letters)"),
        with_field("- **Type**: string"),
    ],
)
def test_a_field_that_is_written_twice_with_one_value_is_a_warning(text):
    spec, found = read(text)
    assert spec is not None, found
    twice = [d for d in found if d.code.value == "duplicate-field"]
    assert len(twice) == 1
    assert "different" not in twice[0].message


@pytest.mark.parametrize(
    ("text", "differ"),
    [
        (with_metadata("- **Requires Auth**: yes\n- **Requires Auth**: no"), True),
        (with_metadata("- **Audience**: a\n- **Audience**: b"), False),
        (with_section("Limits", "**Timeout Seconds**: 10", "**Timeout**: 11s"), True),
        (with_field("- **Type**: str"), False),
    ],
)
def test_a_field_that_is_written_twice_with_two_values_is_an_error(text, differ):
    spec, found = read(text)
    assert spec is None
    assert ["with different values" in d.message for d in found if d.code == "duplicate-field"] == [
        differ
    ]


@pytest.mark.parametrize(
    "text",
    [
        with_section("Safety", "**Confirm When**: `a == 'A'`", "**Confirm When**: `a == 'a'`"),
        with_section("Safety", "**Crisis When**: `a == 'b-c'`", "**Escalate When**: `a == 'b_c'`"),
        with_field("- **Pattern**: `[A-Z]+`\n- **Pattern**: `[a-z]+`"),
        "---\nimplemented_by: mcp srv get-x\n---\n"
        + with_metadata("- **Implemented By**: mcp srv get_x"),
    ],
)
def test_two_values_that_differ_in_case_or_hyphens_are_an_error(text):
    spec, found = read(text)
    assert spec is None
    assert {d.code.value for d in found} & {"duplicate-field", "conflict"}


def test_a_name_may_be_written_twice_in_kebab_and_snake_case():
    text = tool("get_x", "None").replace("- **Category**", "- **Name**: get-x\n- **Category**")
    spec, found = parse_tool(text, "get-x.tool.md")
    assert spec is not None, found
    front, found = parse_tool(f"---\nname: get-x\n---\n{tool('get_x', 'None')}", "get-x.tool.md")
    assert front is not None, found
    assert spec.name == front.name == "get_x"


def test_escalate_may_be_repeated_in_an_approval_and_in_a_step():
    lines = "**Escalate**: after 4 hours to a", "**Escalate**: after 2 hours to b"
    spec, found = read(with_section("Approval", "**When**: always", "**By**: boss", *lines))
    assert spec is not None, found
    both = (Escalation(7200.0, ("b",)), Escalation(14400.0, ("a",)))
    assert spec.approvals[0].escalate == both
    asks = "".join(f"\n   - {line}" for line in ("**Ask**: Yes?", "**By**: boss", *lines))
    text = skill(f"1. **Ask**.{asks}")
    one, found = parse_skill(text, "go.skill.md")
    assert one is not None, found
    assert one.workflow_sections[0].steps[0].escalate == both
    assert (
        read(approved_by("boss") + "- **Escalate**:\n\n  now\n\n  - after 2 hours to b\n")[0]
        is None
    )


def test_a_conflict_with_allowed_roles_stands_at_requires_auth():
    text = with_metadata("- **Allowed Roles**: nurse\n- **Requires Auth**: false")
    found = [d for d in read(text)[1] if d.code.value == "conflict"]
    assert [d.span.line for d in found] == [
        text.split("\n").index("- **Requires Auth**: false") + 1
    ]


@pytest.mark.parametrize(
    ("quota", "help_"),
    [
        ("0 calls per user per day", "write `3 calls per user per day`"),
        ("1,000 calls per user per day", "write `1000 calls per user per day`"),
        ("1.000 calls per user per day", "calls are whole: write 1 or 1000"),
        ("3.0 calls per user per day", "calls are whole: write 3"),
        ("2.5 calls per user per day", "calls are whole: for a sum"),
        ("3 calls per via per day", "write ``per `caller.via` ``"),
    ],
)
def test_the_help_of_a_quota_is_a_quota_that_can_be_read(quota, help_):
    spec, found = read(with_section("Limits", f"**Quota**: {quota}"))
    assert spec is None
    assert help_ in found[0].help


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("- __nom__ (string, required): Le nom", ["nom"]),
        ("- __le_nom__: string", ["le_nom"]),
        ("__nom__ (string): Le nom", ["nom"]),
        ("- **__nom__** (string)", ["nom"]),
        ("- __nom__? (string)", ["nom"]),
        ("- __nom (string)", ["__nom"]),
        ("| Name | Type |\n|---|---|\n| __nom__ | string |", ["nom"]),
        (
            "### x\n\n- **Type**: object\n- **Properties**:\n  - __nom__:\n    - **Type**: string",
            ["nom"],
        ),
    ],
)
def test_a_name_in_doubled_underscores_is_bold(parameters, names):
    spec, found = read(tool("act", parameters))
    assert spec is not None, found
    own = spec.parameters[0].shape.properties or spec.parameters
    assert [one.name for one in own] == names


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [("tuple[int, int]", (2, 2)), ("tuple[int] | null", (1, 1)), ("tuple", (None, None)),
     ("tuple[int] | list[int]", (None, None)), ("tuple[int, int] | tuple[int]", (1, 2))],
)  # fmt: skip
def test_a_tuple_has_as_many_items_as_its_type(kind, bounds):
    spec, found = read(tool("act", f"### a\n\n- **Type**: {kind}"))
    assert spec is not None, found
    shape = spec.parameters[0].shape
    assert (shape.min_items, shape.max_items) == bounds
    again, _ = read(format_text(tool("act", f"### a\n\n- **Type**: {kind}"), "act.tool.md") or "")
    assert again is not None
    assert again.hash == spec.hash


@pytest.mark.parametrize("kind", ["tuple[int, str]", "list[int, int]", "enum", "list[enum]"])
def test_a_type_that_would_lose_a_part_is_an_error(kind):
    assert read(tool("act", f"### a\n\n- **Type**: {kind}"))[0] is None
    assert read(tool("act", "- `a` (enum, required): one"))[0] is None
    assert read(tool("act", "### a\n\n- **Type**: enum\n- **Enum**: a, b"))[0] is not None


@pytest.mark.parametrize(
    "steps",
    [
        '1. **Do**.\n   - **Use**: act\n   - **If empty**: stop "{["a", "b"].join(", ")}"',
        "1. **Do**\n   - call them",
        "1. Do it now\n   - call them\n   - **Use**: act",
        "1. Do it now\n   call them later.\n\n   - a\n     - b",
        "1. **Do**\n\n   words\n   and words\n2. **Return**: ok",
    ],
)
def test_a_step_is_written_so_that_it_is_read_back(steps):
    spec, found = parse_skill(skill(steps), "go.skill.md")
    assert spec is not None, found
    again, found = parse_skill(skill_text(spec), "go.skill.md")
    assert again is not None, found
    assert again.hash == spec.hash
    assert '""' not in skill_text(spec)


@pytest.mark.parametrize(
    "line",
    ["**Success** (boolean): It worked", "`success` (boolean, required) - It worked",
     "Success (boolean): It worked", "**Success**: boolean - It worked"],
)  # fmt: skip
def test_a_part_of_the_result_may_have_its_type_in_brackets(line):
    spec, found = parse_skill(skill(output=f"- {line}"), "go.skill.md")
    assert spec is not None
    assert (spec.output.success, spec.sections, found) == ("It worked", {}, ())


@pytest.mark.parametrize("name", ["caller", "approver", "now"])
def test_a_parameter_with_a_name_of_the_language_is_ambiguous_once_read(name):
    one = f"### {name}\n\n- **Type**: string\n- **Required**: true"
    assert read(tool("act", one))[0] is not None
    spec, found = read(tool("act", one, f"\n## Rules\n\n- `{name} == 'x'`: No.\n"))
    assert spec is None
    assert [d.code.value for d in found] == ["ambiguous-name"]


@pytest.mark.parametrize("name", ["caller", "now"])
def test_a_result_of_a_step_with_a_name_of_the_language_is_ambiguous_once_read(name):
    act, _ = read(tool("act"))
    steps = f"1. **Do**.\n   - **Use**: act\n   - **Save as**: {name}"
    for more, codes in (("", []), (f"\n2. **Return**:\n   - a: `{name}`", ["ambiguous-name"])):
        spec, _ = parse_skill(skill(steps + more), "go.skill.md")
        assert act is not None
        assert spec is not None
        assert [d.code.value for d in check_skill(spec, {"act": act}, {})] == codes
