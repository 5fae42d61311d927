"""The page of failures lists every code that a result may have."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/failures.md").read_text("utf-8")
PACKAGES = ("_call", "_dialect", "_skills", "_workspace")
CODE_FIRST = {"deny", "Failure", "StepError"}

NEVER_LOADED = {"unknown_section"}
"""Codes of mistakes that keep a skill from loading."""


def codes() -> Iterator[tuple[str, str]]:
    """Return each code that a result may have, and its place in the source."""
    for package in PACKAGES:
        for path in (ROOT / "framework/toolmd" / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and (code := code_of(node)):
                    yield code, f"{path.name}:{node.lineno}"


def code_of(node: ast.Call) -> str:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    given = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
    if name in CODE_FIRST:
        given += node.args[:1]
    if name == "Verdict":
        given += node.args[1:2]
    for value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return ""


def test_every_code_of_a_result_is_on_the_page():
    told = set(re.findall(r"`(\w+)`", PAGE))
    missing = {code: place for code, place in codes() if code not in told | NEVER_LOADED}
    assert not missing
