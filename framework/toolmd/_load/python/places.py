"""Find the place of a parameter in the markdown and in the Python, for diagnostics."""

import ast
import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from toolmd._load.source.files import File
from toolmd._load.source.imports import tree_of
from toolmd._types.source import Span

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_MARKS = " \t\u00a0#*_`\\-+|.:0123456789)>"
"""What may stand before a name: the signs of headings, bullets, tables, and numbers."""


class PythonPlace(NamedTuple):
    """A place in Python."""

    path: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


def in_markdown(path: str, text: str, name: str | None, title_line: int) -> Span:
    """Return the span of a parameter's name where it is declared, or else of the title."""
    lines = _outside_fences(text)
    found: tuple[int, int] | None = None
    if name is not None:
        for number, line in lines:
            column = _declares(line, name)
            if column and (found is None or line.lstrip().startswith("#")):
                found = number, column
                if line.lstrip().startswith("#"):
                    break
    if found is None or name is None:
        return Span(path, title_line, 1, title_line, 2)
    line_number, column = found
    return Span(path, line_number, column, line_number, column + len(name))


def _outside_fences(text: str) -> list[tuple[int, str]]:
    kept: list[tuple[int, str]] = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" \t`~"):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            kept.append((number, line))
    return kept


def _declares(line: str, name: str) -> int:
    """Return the column at which a line's first word is this name; 0 where it is not."""
    bare = line.replace("\\", "")
    rest = bare.lstrip(_MARKS)
    if not rest.startswith(name) or rest[len(name) : len(name) + 1].isalnum():
        return 0
    if rest[len(name) : len(name) + 1] == "_" or rest is bare:
        # `patient_id` does not declare `patient`; bare prose that begins so declares nothing.
        return 0
    column = line.find(name)
    return column + 1 if column >= 0 else 1


def in_python(file: File | None, function: Callable[..., Any], name: str | None) -> PythonPlace:
    """Return the place of a function's parameter, or of the function itself."""
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    line = code.co_firstlineno if code is not None else 1
    location = code.co_filename if code is not None else getattr(inner, "__module__", "?")
    if file is None or location != file.location:
        return PythonPlace(location, line)
    for node in ast.walk(tree_of(file.data)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        decorated = [d.lineno for d in node.decorator_list]
        if node.name != inner.__name__ or line not in (node.lineno, *decorated):
            continue
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        for argument in arguments:
            if argument.arg == name:
                return PythonPlace(file.path, argument.lineno, argument.col_offset + 1)
        return PythonPlace(file.path, node.lineno, node.col_offset + 1)
    return PythonPlace(file.path, line)
