"""A spoiled catalogue becomes drafts, or the report says why not."""

import re
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolmd import Severity, parse_tool
from toolmd_catalog.reader import read

HERE = Path(__file__).parent / "catalogs"
LINES = [line for file in sorted(HERE.glob("*.md")) for line in file.read_text("utf-8").split("\n")]
OPEN = re.compile(r"^- \*\*Restriction \d+\*\*: .*\n", re.MULTILINE)
SIGNS = st.sampled_from(
    [
        *"| ` ( ) { } [ ] ** ≥ ‚â• - : ``` # \\ ' \" ? = 1 … default enum or required {}".split(),
        *["\n", " - ", ": ", "\x00", "9" * 40, "##Safety", "---", "<!--", "-->"],
    ]
)


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """Return some lines of the catalogues, in any order, with signs put in and letters gone."""
    start = draw(st.integers(0, len(LINES) - 1))
    lines = LINES[start : start + draw(st.integers(5, 60))]
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else list(lines)
    for _ in range(draw(st.integers(0, 12))):
        at = draw(st.integers(0, len(lines) - 1))
        place = draw(st.integers(0, len(lines[at])))
        gone = draw(st.integers(0, 3))
        lines[at] = lines[at][:place] + draw(SIGNS) + lines[at][place + gone :]
    return "\n".join(lines)


@settings(max_examples=150, deadline=None)
@given(text=spoiled())
@example(text="## water_bed\n\n| | |\n|---|---|\n| a | b |\n")
def test_a_spoiled_catalogue_becomes_drafts_whose_only_errors_are_open_restrictions(
    text: str,
) -> None:
    made = read(text, "tools.md")

    assert made.drafts or made.refused
    for draft in made.drafts:
        decided = OPEN.sub("", draft.text)
        spec, found = parse_tool(decided, f"{draft.name.replace('_', '-')}.tool.md")
        assert spec is not None, found
        assert not [d for d in found if d.severity is Severity.ERROR]
