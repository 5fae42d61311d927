"""The page of threats names code and tests that exist."""

import re
from pathlib import Path

import pytest
from test_failures import named_in

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/threats.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and "| control |" not in line
]


def test_the_page_lists_threats() -> None:
    assert len(ROWS) > 50
    assert {len(row) for row in ROWS} == {4}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_control_names_its_code_and_its_tests(row: list[str]) -> None:
    places, named = (re.findall(r"`([^`]+)`", cell) for cell in row[2:])

    assert places
    assert [place for place in places if not (ROOT / "framework/toolmd" / place).exists()] == []
    assert named
    for test in named:
        path, _, name = test.partition("::")
        assert not name or test in set(named_in(path)), test
        assert (ROOT / "tests" / path).is_file()


def test_the_security_page_names_the_threats_page() -> None:
    assert "docs/explanation/threats.md" in (ROOT / "SECURITY.md").read_text("utf-8")
