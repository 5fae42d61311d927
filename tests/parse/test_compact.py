"""The compact form of parameters: a line each, with the same meaning."""

from pathlib import Path

import pytest
from test_rewritings import FILES

from toolmd._parse import format_text, parse_skill, parse_tool
from toolmd._parse.writing.compact import is_compact

ROOT = Path(__file__).parents[2]
TOOLS = [path for path in FILES if path.name.endswith(".tool.md")]
COMPACT = """\
# Refund

Refund an order.

## Metadata
- **Name**: refund; **Version**: 1.0.0; **Category**: orders; **Requires Auth**: true
## Parameters
- `order` (string, required, pattern `O-[0-9]{4}`): The number of the order
- `lines` (array of object, required, 1..20 items): What comes back
  - `sku` (string, required): The article
  - `count` (integer, at least 1, default 1)
- `since` (date): The first day
- `how` (string, default card, one of card, voucher)
- `to` (object): To whom
  - **Discriminator**: kind
  - **One Of**:
    - `card` (object): A card
      - `kind` (string, required, enum card)
    - `iban` (object)
      - `kind` (string, required, enum iban)
      - `iban` (string, required, at least 15 characters)
## Returns
- **Type**: array of object; **Max Items**: 20; **Description**: What was paid back
- `amount` (number, required, at least 0): In euros
## Safety
- **Min Confidence**: 0.8; **Requires Confirmation**: true; **Sensitivity**: high
## Limits
- **Timeout**: 10s; **Rate**: 3/min
"""
BARE = """\
# X

Do it.

## Metadata
- **Name**: x; **Version**: 1.0.0; **Category**: general
## Parameters
None
## Returns
- **Type**: any
"""


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.name)
def test_both_forms_of_a_file_have_the_same_hash_and_stay_as_they_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    spec, _ = parse_tool(text, path.name)
    if spec is None:
        return
    compact = format_text(text, path.name, "compact")
    assert compact is not None
    reread, found = parse_tool(compact, path.name)
    assert reread is not None, found
    assert reread.hash == spec.hash
    assert is_compact(compact)
    assert format_text(compact, path.name, "compact") == compact
    long = format_text(compact, path.name, "long")
    assert long == format_text(text, path.name, "long")


def test_a_compact_file_stays_compact_and_a_long_one_long() -> None:
    assert format_text(COMPACT, "refund.tool.md") == COMPACT
    long = format_text(COMPACT, "refund.tool.md", "long")
    assert long is not None
    assert "### since" in long
    assert format_text(long, "refund.tool.md") == long
    assert format_text(long, "refund.tool.md", "compact") == COMPACT


def test_a_file_in_the_compact_form_takes_less_than_half_the_lines() -> None:
    lines = {"compact": 0, "long": 0}
    for path in TOOLS:
        if path.is_relative_to(ROOT / "tests"):
            continue
        text = path.read_text(encoding="utf-8")
        for style in lines:
            written = format_text(text, path.name, style)
            assert written is not None
            lines[style] += written.count("\n")
    assert lines["compact"] < 0.5 * lines["long"]


@pytest.mark.parametrize(
    "line",
    [
        "- **Min Confidence**: 0.8; **Requires Confirmation**: true",
        "- **Min Confidence:** 0.8; **Requires Confirmation:** true",
        "* __Min Confidence__: 0.8; __Requires Confirmation__: true",
        "- **Min Confidence**: 0.8\n  **Requires Confirmation**: true",
        "- **Min Confidence**: 0.8\n- **Requires Confirmation**: true",
    ],
)
def test_several_fields_in_one_bullet_are_read_as_a_bullet_each(line: str) -> None:
    spec, found = parse_tool(f"{BARE}## Safety\n{line}\n", "x.tool.md")
    assert spec is not None, found
    assert (spec.safety.min_confidence, spec.safety.requires_confirmation) == (0.8, True)


def test_a_misspelt_field_behind_another_is_found_at_its_place() -> None:
    text = BARE.replace("general", "general; **Requires Confirmtion**: true")
    spec, found = parse_tool(text, "x.tool.md")
    assert spec is None
    column = text.splitlines()[5].index("Requires") + 1
    assert (6, column) in [(one.span.line, one.span.column) for one in found]


def test_a_description_keeps_its_semicolons() -> None:
    text = BARE.replace("any", "any; **Description**: One; **two**: three; **Unit**: ml")
    spec, found = parse_tool(text, "x.tool.md")
    assert spec is not None, found
    assert (spec.returns.description, spec.returns.unit) == ("One; **two**: three", "ml")


@pytest.mark.parametrize("path", [p for p in FILES if p.name.endswith(".skill.md")], ids=str)
def test_a_skill_in_the_compact_form_has_the_same_meaning_and_stays_compact(path: Path) -> None:
    text = path.read_text("utf-8")
    compact = format_text(text, path.name, "compact")

    assert compact is not None
    before, after = parse_skill(text, path.name)[0], parse_skill(compact, path.name)[0]
    assert before is not None
    assert after is not None
    assert after.hash == before.hash
    assert format_text(compact, path.name) == compact
    assert is_compact(compact) is bool(before.parameters)
