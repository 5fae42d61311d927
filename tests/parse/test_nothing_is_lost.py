"""Rules that hold for every text: nothing raises, nothing is lost, no restriction is weakened."""

import json
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolmd._parse import format_text, parse_skill, parse_tool
from toolmd._parse.fields.table import LIMITS, SAFETY, TOOL_METADATA

TOOL = """\
# Weather

Tell the weather.

## Metadata

- **Name**: weather
- **Version**: 1.0.0
- **Category**: general

## Parameters

### city

- **Type**: string
- **Required**: true
- **Description**: The city

## Returns

- **Type**: object
- **Description**: What the sky does

## Safety

- **Min Confidence**: 0.8
- **Requires Confirmation**: true

## Background

Clouds are water.
"""
SKILL = """\
# Plan

Plan a trip.

## Metadata

- **Name**: plan
- **Version**: 1.0.0
- **Category**: trips
- **Required Tools**: weather

## Workflow

Look first.

1. **Look** at the sky.
   - **Use**: weather
   - **With**:
     - city: `city`
   - **Save as**: sky

2. **Return**:
   - sky: `sky`

## Input Schema

### city

- **Type**: string
- **Required**: true

## Output Schema

- **Type**: object (SkillResult)
- **Success**: boolean - Whether it worked
"""
WORD = "zqxv"  # is in no file and in no message

LINES = st.sampled_from(
    [
        "{}",
        "- {}",
        "  - {}",
        "    {}",
        "1. {}",
        "- **{}**: value",
        "- **Key**: {}",
        "  - **Key**: {}",
        "**{}**: value",
        "### {}",
        "## {}",
        "> {}",
        "| {} | b |\n|---|---|\n| c | d |",
        "`{}`",
        "[{}]: http://example.org",
        "<b>{}</b>",
        "```\n{}\n```",
        "{}\n---",
        "- - - {}",
        "* * {}",
        "\t{}",
        "{}: value",
    ]
)


def said(parse, text: str, path: str) -> str:
    spec, diagnostics = parse(text, path)
    shown = json.dumps(spec.canonical if spec else {}, ensure_ascii=False)
    return shown + "\n".join(str(d) for d in diagnostics)


@settings(max_examples=4 * settings.default.max_examples)
@given(st.integers(0, 60), LINES, st.booleans(), st.booleans())
def test_a_line_put_anywhere_is_in_the_spec_in_prose_or_in_a_diagnostic(at, shape, blank, in_skill):
    parse, source, path = (
        (parse_skill, SKILL, "plan.skill.md") if in_skill else (parse_tool, TOOL, "weather.tool.md")
    )
    lines = source.split("\n")
    at = min(at, len(lines))
    put = shape.format(WORD).split("\n")
    lines[at:at] = ["", *put, ""] if blank else put
    text = "\n".join(lines)
    number = next(n for n, line in enumerate(lines, 1) if WORD in line)
    spec, diagnostics = parse(text, path)
    told = any(d.span.line <= number <= d.span.end_line for d in diagnostics)
    # A file with an error does not load, so nothing can be missing.
    assert spec is None or told or WORD in said(parse, text, path), text


@settings(max_examples=6 * settings.default.max_examples)
@given(
    st.text(
        alphabet=st.sampled_from(list("#-*+`|>:_~<![]{}()\n\n\n  \t0123.)aAbT\u00a0\u2028é")),
        max_size=300,
    )
)
def test_no_text_raises(text):
    for parse, path in ((parse_tool, "x.tool.md"), (parse_skill, "x.skill.md")):
        spec, diagnostics = parse(text, path)
        assert spec is not None or diagnostics


@settings(max_examples=3 * settings.default.max_examples)
@given(st.data())
def test_no_mutation_of_a_file_raises(data):
    text = data.draw(st.sampled_from([TOOL, SKILL]))
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        put = data.draw(st.text(alphabet="#-*`|:_ \n\t1.{}<>[]ab", max_size=12))
        text = text[:start] + put + text[end:]
    parse_tool(text, "x.tool.md")
    parse_skill(text, "x.skill.md")


RESTRICTING = [
    (table, field)
    for table in (TOOL_METADATA, SAFETY, LIMITS)
    for field in table.fields
    if field.restricts or table.restricts
]


@settings(max_examples=4 * settings.default.max_examples)
@given(
    st.integers(0, len(RESTRICTING) - 1),
    st.text(alphabet=string.ascii_letters + string.punctuation + " ≥é", min_size=1, max_size=12),
)
@example(3, "‚â• 0.7")
@example(3, "1.01")
@example(3, "NaN")
@example(4, "tru")
def test_a_restriction_is_read_as_written_or_is_an_error(which, value):
    table, field = RESTRICTING[which]
    text = TOOL.split("\n## Safety", maxsplit=1)[0] + "\n"
    line = f"- **{field.name}**: {value}"
    if table is TOOL_METADATA:
        text = text.replace("- **Category**: general", f"- **Category**: general\n{line}")
    else:
        text += f"\n## {table.name}\n\n{line}\n"
    spec, diagnostics = parse_tool(text, "weather.tool.md")
    if spec is None:
        assert any(d.severity == "error" for d in diagnostics)
        return
    if field.attribute == "requires_patient_context":
        held = "patient" in spec.requires_context  # the older form of that field
    elif table is TOOL_METADATA:
        held = getattr(spec, field.attribute)
    else:
        held = getattr(getattr(spec, table.name.lower()), field.attribute)
    meant = value.strip().strip("`*_\"' ").lower()
    assert held not in (None, ()) or meant == "", text
    if field.kind == "boolean" and held is False:
        assert meant.rstrip(".").strip("`*_\"' ") in {"false", "no", "n", "off", "optional"}


@settings(max_examples=3 * settings.default.max_examples)
@given(st.integers(0, len(RESTRICTING) - 1), st.integers(0, 30), st.sampled_from("abcxyz"))
def test_a_misspelt_restriction_never_becomes_weaker(which, at, letter):
    table, field = RESTRICTING[which]
    at = min(at, len(field.name) - 1)
    name = field.name[:at] + letter + field.name[at + 1 :]
    if table.field(name) is not None:
        return
    values = {
        "boolean": "true",
        "share": "0.9",
        "choice": field.choices[-1] if field.choices else "",
    }
    line = f"- **{name}**: {values.get(field.kind, '5')}"
    text = TOOL.split("\n## Safety", maxsplit=1)[0] + "\n"
    if table is TOOL_METADATA:
        text = text.replace("- **Category**: general", f"- **Category**: general\n{line}")
    else:
        text += f"\n## {table.name}\n\n{line}\n"
    spec, diagnostics = parse_tool(text, "weather.tool.md")
    assert spec is None, [str(d) for d in diagnostics]


@pytest.mark.parametrize("line", ["Max Bytes**: 0.5", "Rate**: 3/0.0000001s", "Max Rows**: 0"])
def test_a_limit_of_zero_is_an_error(line):
    text = TOOL.split("\n## Safety", maxsplit=1)[0] + f"\n## Limits\n\n- **{line}\n"
    spec, diagnostics = parse_tool(text, "weather.tool.md")
    assert spec is None
    assert [d.code for d in diagnostics if d.severity == "error"] == ["unreadable-value"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- **Type**: string", "- **Type**: string\n- **Min Length**:\n2 ##Length**: 2"),
        ("- **Name**: weather", "- **Name**: weather\n Parameters\nurns"),
        ("## Background", "## Examples\n\n### a\n\n```json\n{"),
    ],
)
def test_a_place_is_in_the_file_for_a_value_over_lines(before, after):
    text = TOOL.replace(before, after)
    lines = text.split("\n")
    _, diagnostics = parse_tool(text, "weather.tool.md")
    assert diagnostics
    for told in diagnostics:
        assert told.span.line <= len(lines)
        assert told.span.column <= len(lines[told.span.line - 1]) + 1
        for edit in told.fix:
            assert edit.line > len(lines) or edit.column <= len(lines[edit.line - 1]) + 1


def test_prose_of_returns_next_to_its_fields_is_kept():
    fields = f"1. {WORD}\n\n### sky\n\n- **Type**: string\n"
    text = TOOL.replace("- **Type**: object\n- **Description**: What the sky does", fields)
    spec, diagnostics = parse_tool(text, "weather.tool.md")
    assert spec is not None, diagnostics
    assert WORD in said(parse_tool, text, "weather.tool.md")


@pytest.mark.parametrize("example", ["green", "7", "2,5"])
@pytest.mark.parametrize("kind", ["integer\n- **Maximum**: 5", "string\n- **Enum**: red, blue"])
def test_an_example_that_does_not_fit_stays_in_the_canonical_form(kind, example):
    text = TOOL.replace("- **Type**: string", f"- **Type**: {kind}\n- **Example**: {example}", 1)
    spec, diagnostics = parse_tool(text, "weather.tool.md")
    assert spec is not None, diagnostics
    assert "invalid-example" in [d.code for d in diagnostics]
    assert f"- **Example**: {example}" in format_text(text, "weather.tool.md")
