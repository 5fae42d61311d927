"""Functions are small, and each file states its purpose."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tracked import ROOT, tracked

LONGEST_FUNCTION = 60
NAMED_AFTER_NO_THING = {"utils", "util", "helpers", "helper", "common", "base", "misc"}

LONG_FUNCTIONS: dict[str, str] = {
    "framework/toolmd/_chat/conversation.py:__init__": "its options, each in its docstring",
}
"""`path:name` of longer functions, and the reasons."""


PYTHON = [name for name in tracked() if name.endswith(".py")]
SHIPPED = [name for name in PYTHON if "tests" not in Path(name).parts]


def parsed(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text("utf-8"))


def functions(name: str) -> Iterator[tuple[str, int]]:
    """Return each function of a file and its length in lines."""
    for node in ast.walk(parsed(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1


def test_the_first_line_of_a_file_states_its_purpose() -> None:
    """The first line is a docstring, and its sentence ends there."""
    silent = {
        name
        for name in PYTHON
        if not re.match(r'"""[^\n]+?[.:]("""|$)', (ROOT / name).read_text("utf-8"), re.MULTILINE)
    }

    assert not silent


def test_a_function_is_small_or_has_a_reason() -> None:
    long = {key for name in SHIPPED for key, size in functions(name) if size >= LONGEST_FUNCTION}

    assert long <= LONG_FUNCTIONS.keys()


def test_a_module_is_named_after_what_it_contains() -> None:
    vague = {
        name
        for name in SHIPPED
        if NAMED_AFTER_NO_THING & {part.strip("_") for part in Path(name).with_suffix("").parts}
    }

    assert not vague


def test_test_files_have_unique_names() -> None:
    counted = Counter(Path(name).name for name in PYTHON if name not in SHIPPED)

    assert not {name for name, times in counted.items() if times > 1 and name != "conftest.py"}
