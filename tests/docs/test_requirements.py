"""The table of requirements names tests that exist and are collected."""

import ast
import re
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "requirements.md"
ROW = re.compile(r"^\| (.+) \| (.+) \| `([^`]+)::(test_\w+)` \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text("utf-8"))


@cache
def collected_from(file):
    """Return the tests that pytest collects from a file: functions at its top level."""
    body = ast.parse((ROOT / file).read_text("utf-8")).body
    return {one.name for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_table_has_a_row_for_each_requirement():
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    heads = [line for line in lines if line == "| requirement | where it is kept | test |"]
    assert len(ROWS) == len(lines) - len(heads) >= 200
    assert len(heads) == 6


@pytest.mark.parametrize("file", sorted({file for _, _, file, _ in ROWS}))
def test_each_named_test_is_collected(file):
    assert fnmatch(file, "tests/*/test_*.py") or fnmatch(file, "plugins/*/tests/test_*.py")
    named = {name for _, _, in_file, name in ROWS if in_file == file}
    assert named <= collected_from(file)
