"""Runs of plain bullets are read fast, with the result of markdown-it-py's own rule."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolmd._parse.blocks import Part
from toolmd._parse.outline import PLAIN_BULLETS, outline, parser_for, source_lines
from toolmd._parse.page import Page

ROOT = Path(__file__).parents[2]
FILES = sorted((*ROOT.rglob("tools_md/**/*.md"), *ROOT.rglob("skills_md/**/*.md")))

PIECES = st.sampled_from(
    [
        *("- ", "-", "-\t", "-  ", "-     ", "* ", "+ ", "1. ", "  ", "   ", "    ", "\t", " "),
        *("a", "**Type**: string", "**", "***", "* * *", "_", "___", "---", "===", "`b`", "```"),
        *("~~~", "#", "# h", ">", "<b>", "<!-- c -->", "|", "| - |", "2", "1) x", "[x]: y", "\\"),
        *("\u00a0", "\u2028", "\x0c", "\x00", "\ufffd", "é", "…", "：", "\r", ""),
    ]
)
LINES = st.one_of(
    st.sampled_from(["", "- a", "  - b", "    - c", "  - d", "- **Key**: value", "text", "## H"]),
    st.lists(PIECES, max_size=5).map("".join),
)


def outlines(text: str) -> tuple[list[Part], list[Part]]:
    """Return the outline with the rule, and with only markdown-it-py's own."""
    lines = source_lines(text)
    ruler = parser_for(lines).block.ruler
    quick = outline(Page("a.md", list(lines)))
    ruler.disable(PLAIN_BULLETS)
    try:
        return quick, outline(Page("a.md", list(lines)))
    finally:
        ruler.enable(PLAIN_BULLETS)


@settings(max_examples=15 * settings.default.max_examples)
@given(st.lists(LINES, max_size=9).map("\n".join))
@example("- a\n  - b\n    - c\n- d\n\n## H\n")
@example("- a\n    - b\n  - c\n")
@example("- a\n- b\n\n- c\n")
@example("- a\n\n  more\n")
@example("- a\nlazy\n")
@example("- a\n===\n")
@example("- a\n  -\n")
@example("- a\n- ***\n- b")
@example("- a | b\n- | -\n")
@example("> - a\n> - b\n")
@example("1. x\n\n   - a\n   - b\n")
def test_any_text_reads_the_same_with_and_without_the_rule(text: str) -> None:
    quick, stock = outlines(text)
    assert quick == stock


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_definition_of_the_project_reads_the_same(file: Path) -> None:
    quick, stock = outlines(file.read_text(encoding="utf-8"))
    assert quick == stock


def test_the_rule_reads_a_nested_run_as_one_token() -> None:
    lines = ["- **Items**:", "  - **Type**: string", "- **Required**: true", "", "## Returns"]
    types = [token.type for token in parser_for(lines).parse("\n".join(lines))]
    assert types == [PLAIN_BULLETS, "heading_open", "inline", "heading_close"]
