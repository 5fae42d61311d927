"""Hold every file to the size and the manners of the house."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 300
LONGEST_FUNCTION = 50
NAMED_AFTER_NO_THING = {"utils", "util", "helpers", "helper", "common", "base", "misc"}

LONG_FILES: dict[str, str] = {}
"""What is longer, and why."""

LONG_FUNCTIONS: dict[str, str] = {}
"""`path:name` of what is longer, and why."""


def tracked(*patterns: str) -> list[str]:
    """Give the files that are in the history or about to be, below the root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in listed.stdout.splitlines() if (ROOT / name).is_file())


PYTHON = tracked("*.py")
SHIPPED = [name for name in PYTHON if not name.startswith("tests/")]


def parsed(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text("utf-8"))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("name", PYTHON)
def test_a_file_says_first_what_it_is_for(name: str) -> None:
    first, *_ = [*parsed(name).body, None]

    assert isinstance(first, ast.Expr), "a docstring comes first"
    assert isinstance(first.value, ast.Constant), "a docstring comes first"
    assert first.lineno == 1, "it stands in the first line"
    sentence = str(first.value.value).splitlines()[0]
    assert sentence.endswith((".", ":")), "it is one sentence on one line"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_file_is_small_or_says_why_not(name: str) -> None:
    lines = (ROOT / name).read_text("utf-8").count("\n")

    assert lines <= LONGEST_FILE or name in LONG_FILES


@pytest.mark.parametrize("name", SHIPPED)
def test_a_function_is_small_or_says_why_not(name: str) -> None:
    long = {
        f"{name}:{node.name}"
        for node in functions(parsed(name))
        if (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION
    }

    assert long <= LONG_FUNCTIONS.keys()


def test_a_reason_goes_when_the_size_does() -> None:
    still_long = {n for n in SHIPPED if (ROOT / n).read_text("utf-8").count("\n") > LONGEST_FILE}

    assert still_long == LONG_FILES.keys()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_room_is_named_after_a_thing(name: str) -> None:
    parts = {part.strip("_") for part in Path(name).with_suffix("").parts}

    assert not parts & NAMED_AFTER_NO_THING


def test_test_files_have_names_of_their_own() -> None:
    names = [Path(name).name for name in tracked("tests/**/test_*.py")]

    assert len(names) == len(set(names))
