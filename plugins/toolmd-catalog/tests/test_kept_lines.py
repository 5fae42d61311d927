"""Each line of a catalogue is in a draft, in a note or in a rejection."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from read_catalogs import read

from toolmd import parse_tool

WORDS = st.lists(
    st.text("bcdfghjklmnpqrstvwz", min_size=4, max_size=8), min_size=1, max_size=6, unique=True
)
FORMS: dict[str, Any] = {
    "bullet": "- {}",
    "nested bullet": "- kept\n  - {}",
    "numbered": "1. {}",
    "paragraph": "{}",
    "label": "**Notes**: {}",
    "row": "| column | of what |\n|---|---|\n| {} | kept |",
    "quote": "> {}",
    "code": "```text\n{}\n```",
    "section": "#### {}\n\nkept",
}
PLACES = ["{0}\n\n{1}", "{0}\n\n**Parameters**\n\n{1}", "{0}\n\n**Returns**\n\n{1}"]
TOOL = "## create_visit\n\nCreate a visit.\n"
PARAMETERS = "\n\n**Parameters**\n\n- `patient` (string, required): Who comes\n"


@given(
    words=WORDS,
    form=st.sampled_from(sorted(FORMS)),
    place=st.sampled_from(PLACES),
    below=st.booleans(),
)
def test_a_line_in_any_form_and_place_is_kept_or_noted(
    words: list[str], form: str, place: str, below: bool
) -> None:
    text = place.format(TOOL, FORMS[form].format(" ".join(words)))
    made = read(f"{text}{PARAMETERS if below else ''}")
    notes = [note.text for note in (*made.notes, *made.refused)]
    kept = " ".join([*(draft.text for draft in made.drafts), *notes]).casefold()

    assert [word for word in words if word not in kept] == []


@pytest.mark.parametrize(
    "line",
    ["- Must never be called twice", "Required OAuth Scopes: `calendar`", "- You cannot undo it"],
)
def test_a_restriction_that_no_field_expresses_is_an_error_of_the_draft(line: str) -> None:
    (draft,) = read(f"{TOOL}{PARAMETERS}\n{line}\n").drafts

    _, found = parse_tool(draft.text, "create-visit.tool.md")
    assert [one.code for one in found if one.severity == "error"] == ["unknown-field"]
    assert "- **Restriction 1**: " in draft.text
