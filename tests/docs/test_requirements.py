"""Each requirement of the source documents names a test that pytest collects."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (Path(__file__).parent / "requirements.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if line and not line.startswith("#")]


@cache
def collected_from(file: str) -> set[str]:
    """Return the tests that pytest collects from a file: functions at its top level."""
    body = ast.parse((ROOT / file).read_text("utf-8")).body
    return {one.name for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_requirement_names_a_test_that_exists() -> None:
    assert len(ROWS) >= 200
    for _, test in ROWS:
        file, _, name = test.partition("::")
        assert name in collected_from(file), test
