"""The compact form of parameters: a line each, with the same meaning."""

from pathlib import Path

import pytest
from test_rewritings import FILES

from toolmd._parse import format_text, parse_tool

ROOT = Path(__file__).parents[2]
TOOLS = [path for path in FILES if path.name.endswith(".tool.md")]
COMPACT = """\
# List commits

List the commits of a repository.

## Metadata

- **Name**: list_commits
- **Version**: 1.0.0
- **Category**: general

## Parameters

- `repository` (string, required, 1..40 characters): Where
- `limit` (integer, optional, 1..100, default 10): How many commits
- `order` (string, optional, default newest, one of newest, oldest): Which comes first
- `since` (string, optional): The first day
  - **Format**: date

## Returns

- **Type**: array
- **Description**: The commits
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
    assert format_text(compact, path.name, "compact") == compact
    long = format_text(compact, path.name, "long")
    assert long == format_text(text, path.name, "long")


def test_a_compact_file_stays_compact_and_a_long_one_long() -> None:
    assert format_text(COMPACT, "list-commits.tool.md") == COMPACT
    long = format_text(COMPACT, "list-commits.tool.md", "long")
    assert long is not None
    assert "### limit" in long
    assert format_text(long, "list-commits.tool.md") == long
    assert format_text(long, "list-commits.tool.md", "compact") == COMPACT


def test_the_parameters_of_the_projects_own_tools_take_less_than_half_the_lines() -> None:
    lines = {"compact": 0, "long": 0}
    for path in TOOLS:
        if path.is_relative_to(ROOT / "tests"):
            continue
        text = path.read_text(encoding="utf-8")
        for style in lines:
            written = format_text(text, path.name, style)
            assert written is not None
            section = written.partition("\n## Parameters\n")[2].partition("\n## ")[0]
            lines[style] += section.strip().count("\n") + 1
    assert lines["compact"] < 0.5 * lines["long"]
