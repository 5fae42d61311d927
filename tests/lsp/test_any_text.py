"""The editor's requests are answered for any text."""

from hypothesis import example, given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.workspace import PositionCodec

from toolmd._lsp.completion import ExpressionReader, complete, completions, explanation
from toolmd._lsp.editor import draw, fixes, symbols
from toolmd._lsp.index import FileIndex
from toolmd._lsp.page import EditorPage, place_at
from toolmd._lsp.project import EditorProject
from toolmd._types.skill import STEP_KEYS

ALONE = EditorProject(None)
PIECES = st.sampled_from(
    [
        *(
            "# Title",
            "## Parameters",
            "### day",
            "## Workflow",
            "##",
            "#",
            "- ",
            "- **Type**: ",
            "1. ",
        ),
        *("- `a.b > 1`: no", "{a}", "`", "- **Name**: x", "- **When**: `x.map(a, a.", "## Rules"),
        *("- **Save as**: a", "- **Confirm When**: `has(", "## Safety", '```json\n{"a": 1}\n```'),
        *("1. ", "**Use**: x", "  - **With**:", "    - a", "```", "~~~", "text", "", " ", "- **"),
        *(
            "\u2028",
            "\x0c",
            "🌱",
            "é",
            "\r",
            "- **On error**:",
            "|a|b|",
            "---",
            "name: x",
            ":",
            "-",
        ),
    ]
)
DOUBLED = "## Parameters\n\n### day\n\n- **Type**: string\n- *\n- **Description**: a\n"
"""A text in which the parser finds one problem twice."""
TEXTS = st.lists(st.lists(PIECES, max_size=4).map("".join), max_size=12).map("\n".join)


@example(DOUBLED, "tool", 0, 0, types.PositionEncodingKind.Utf16)
@example(
    "## Parameters\n\n### [x\n\n- **Type**: string", "tool", 0, 0, types.PositionEncodingKind.Utf16
)
@given(
    TEXTS,
    st.sampled_from(["tool", "skill"]),
    st.integers(0, 15),
    st.integers(0, 40),
    st.sampled_from([*types.PositionEncodingKind]),
)
def test_any_question_at_any_place_of_any_text_is_answered(
    text: str, kind: str, line: int, character: int, encoding: types.PositionEncodingKind
) -> None:
    page = EditorPage("file:///x", f"/x.{kind}.md", text, PositionCodec(encoding))
    place = place_at(kind, page.lines, *page.place(types.Position(line, character)))
    for item in complete(page, place, ALONE):
        assert isinstance(item.text_edit, types.TextEdit)
        assert item.text_edit.range.start.line == place.line - 1
    assert (place.known, place.word, place.value_of("Use")) is not None
    symbols(page, kind, place.headings)
    file = FileIndex(page)
    names = [one.place for one in file.occurrences]
    assert all(at.line <= len(page.lines) and at.column < at.end_column for at in names)
    within = ExpressionReader(file, ALONE).at(place.line, place.column)
    if within is not None:
        assert isinstance(explanation(*within), str)
        completions(file, within[1], place.line, place.column)
    found = ALONE.typed(kind, text, page.path)
    assert len(draw(page, found)) == len(set(found))
    fixes(page, found, page.whole())


@given(st.sampled_from([*types.PositionEncodingKind]), st.integers(1, 12))
def test_a_byte_order_mark_counts_in_the_first_line(
    encoding: types.PositionEncodingKind, column: int
) -> None:
    codec = PositionCodec(encoding)
    text = "# Wäter 🌱\nbelow"
    plain, marked = (
        EditorPage("file:///x", "/x.tool.md", t, codec) for t in (text, "\ufeff" + text)
    )
    assert marked.place(marked.position(1, column)) == plain.place(plain.position(1, column))
    assert marked.place(marked.position(2, column)) == plain.place(plain.position(2, column))
    behind = marked.position(1, 2).character - plain.position(1, 2).character
    assert behind == codec.client_num_units("\ufeff")


def test_every_key_of_a_step_is_offered() -> None:
    lines = ["# Send", "", "## Workflow", "", "1. **Send them**.", "   - **Use**: send"]

    fields = place_at("skill", lines, 6, 5).fields

    assert [*fields] == [*STEP_KEYS]
    assert all(fields.values())
