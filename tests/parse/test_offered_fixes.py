"""An applied fix repairs its diagnostic; a fix that would not is not offered."""

import pytest

from toolmd._parse import parse_tool

BODY = """\
# Weigh Animal

Put an animal on the scales.

## Metadata

- **Tags**: surgery

## Parameters

None

## Returns

- **Type**: number
- **Description**: Kilograms
"""


def mended(text: str, edits) -> str:
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda e: (e.line, e.column), reverse=True):
        assert edit.line == edit.end_line
        line = lines[edit.line - 1]
        lines[edit.line - 1] = line[: edit.column - 1] + edit.text + line[edit.end_column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "front",
    [
        "---\nname: Weigh Animal\n---\n",
        "---\nname: weighAnimal # of ours\ncategory: a\n---\n",
        '---\nversion: "1"\nreqires_auth: true\n---\n',
        "---\nname: weigh\n---\n",
        "",
    ],
)
def test_fixes_of_metadata_repair_it_in_any_place(front):
    before, found = parse_tool(front + BODY, "weigh_animal.tool.md")
    fixes = [edit for d in found for edit in d.fix]
    assert fixes
    spec, left = parse_tool(mended(front + BODY, fixes), "weigh_animal.tool.md")
    assert spec is not None
    assert [d.code for d in left] == [d.code for d in found if not d.fix]
    assert before is None or before.hash == spec.hash


@pytest.mark.parametrize(
    "field", ["- **Version**", "- **Version**:", "* Version: ", "- **Category**"]
)
def test_a_field_without_a_value_is_filled_in_place(field):
    written = {
        "Name": "- **Name**: a",
        "Version": "- **Version**: 1.0.0",
        "Category": "- **Category**: b",
    }
    key = field.strip("-*: ")
    text = BODY.replace("- **Tags**: surgery", "\n".join({**written, key: field}.values()))
    _, found = parse_tool(text, "weigh_animal.tool.md")
    spec, left = parse_tool(mended(text, [e for d in found for e in d.fix]), "weigh_animal.tool.md")
    assert spec is not None
    assert left == ()


def test_a_value_over_several_lines_has_no_fix():
    _, found = parse_tool(f"---\nname: Weigh\n  Animal\n---\n{BODY}", "weigh_animal.tool.md")
    (name,) = [d for d in found if d.code == "invalid-name"]
    assert name.fix == ()


def test_the_fix_of_a_heading_without_its_space_repairs_it():
    text = BODY.replace("## Returns", "##Returns")
    spec, found = parse_tool(text, "weigh_animal.tool.md")
    (told,) = [d for d in found if d.code == "misspelt-section"]
    assert mended(text, told.fix) == BODY
    assert spec is not None


def test_the_fix_of_a_title_without_its_space_repairs_it():
    text = BODY.replace("# Weigh", "#Weigh", 1)
    spec, found = parse_tool(text, "weigh_animal.tool.md")
    (told,) = [d for d in found if d.code == "misspelt-section"]
    assert told.line == 1
    assert "missing-title" not in [d.code for d in found]
    assert mended(text, told.fix) == BODY
    assert spec is not None
