"""The diagnostics of each mistake, as golden cases."""

from pathlib import Path

import pytest
from markdown_it.utils import read_fixture_file
from tests.definitions import tool

from toolmd._parse import decode, parse_skill, parse_tool

CASES = Path(__file__).parents[1] / "cases"


def reported(parse, text: str, path: str) -> str:
    spec, diagnostics = parse(text.removesuffix("\n"), path)
    said = "\n".join(str(d) for d in diagnostics) or "no findings"
    return f"{said}\n{'loads' if spec else 'does not load'}\n"


@pytest.mark.parametrize(
    ("line", "title", "text", "expected"),
    read_fixture_file(CASES / "tool-mistakes.md"),
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_mistake_in_a_tool_is_reported_with_place_and_remedy(line, title, text, expected):
    del line, title
    assert reported(parse_tool, text, "weather.tool.md") == expected


@pytest.mark.parametrize(
    ("line", "title", "text", "expected"),
    read_fixture_file(CASES / "skill-mistakes.md"),
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_a_mistake_in_a_skill_is_reported_with_place_and_remedy(line, title, text, expected):
    del line, title
    assert reported(parse_skill, text, "plan.skill.md") == expected


def test_invalid_utf8_is_reported_with_its_offset():
    text, diagnostics = decode(b"# Caf\xe9\n", "weather.tool.md")
    assert text is None
    assert str(diagnostics[0]).startswith(
        "weather.tool.md:1:6: error[not-utf8] the file is not UTF-8: byte 0xe9 at offset 5"
    )


def test_a_file_of_five_megabytes_is_too_large():
    text, diagnostics = decode(b"#" * 5_000_000, "weather.tool.md")
    assert text is None
    assert diagnostics[0].code == "file-too-large"
    assert "5,000,000 bytes" in diagnostics[0].message


def test_every_error_is_reported_at_once():
    parameters = "### a\n\n- **Type**: strng\n\n### b\n\n- **Type**: nmber\n"
    text = f"# T\n\nText.\n\n## Parameters\n\n{parameters}"
    _, diagnostics = parse_tool(text, "t.tool.md")
    codes = [d.code for d in diagnostics]
    assert codes.count("unknown-type") == 2
    assert codes.count("missing-section") == 2


TABLE = "| Name | Type | {} |\n|---|---|---|\n| size | string | 5 |"


@pytest.mark.parametrize(
    ("parameters", "rest", "marked", "help_"),
    [
        ("### size\n\n- **Type**: string, integer", "", "integer", "`string | integer`"),
        ("- size (string, integer): How big", "", "integer", "`string | integer`"),
        (TABLE.format("Colour"), "", "5", "the fields are"),
        (TABLE.format("Max Lengt"), "", "5", "'Max Length'"),
        (TABLE.format("multipleOf"), "", "5", "a rule"),
        ("None", "## Safety\n\n- **Confirm When**: `1 > 2` or `2 > 1`", "`", "in one code span"),
        ("None", "## Safety\n\n- **Requires Confirmation**: yes\n\n  Why?", "Why?", "unindent it"),
        ("None", "## Safety\n\n- **Min Confidence**: 0.5\n  - Why?", "Why?", "unindent it"),
        ("None", "## Limits\n\n- **Quota**: 3 calls per user per fortnight", "3 calls",
         "'fortnight' is no time"),
        ("None", "## Limits\n\n- **Quota**: 3 of zzz per user per day", "3 of", "is a number"),
        ("None", "## Rules\n\n- `not (1 > 2)`: No.", "not", "'!'"),
        ("None", "## Rules\n\n- **Givn**: a from b", "**Givn", "'Given'"),
    ],
)  # fmt: skip
def test_an_error_marks_its_words_and_has_a_remedy(parameters, rest, marked, help_):
    text = f"{tool('weigh', parameters)}\n{rest}\n"
    spec, diagnostics = parse_tool(text, "weigh.tool.md")
    assert spec is None
    (found,) = [d for d in diagnostics if d.severity == "error"]
    assert text.splitlines()[found.line - 1][found.column - 1 :].startswith(marked)
    assert help_ in found.help
