"""Find the functions, parameters and calls in a project's Python, without running it."""

import ast
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from toolmd._load.modules import tree_of
from toolmd._load.signature import folded
from toolmd._lsp.page import EditorPage
from toolmd._types.source import Position

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Target = tuple[Path, str]
"""The file of a function, and its name there."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CALLS = frozenset(("call", "call_sync"))
_READS_ALL = frozenset(("locals", "vars", "eval", "exec"))


class UnfollowedError(Exception):
    """A use of a name that can't be found for sure; the message names its place."""


class PythonFile:
    """One Python file; without names if it is not valid Python."""

    def __init__(self, page: EditorPage) -> None:
        self.page = page

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        try:
            return [*ast.walk(tree_of(self.page.text))]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []

    def function(self, name: str) -> Position | None:
        """Return the position of a function's name."""
        node = self._function(name)
        return self._behind_def(node) if node is not None else None

    def parameter(self, function: str, name: str) -> tuple[str, Position] | None:
        """Find a parameter by the definition's name for it: `childName` finds `child_name`."""
        node = self._function(function)
        arguments = [] if node is None else _arguments(node)
        exact = [a for a in arguments if a.arg == name]
        for argument in exact or [a for a in arguments if folded(a.arg) == folded(name)]:
            return argument.arg, self._place(argument, argument.arg)
        return None

    def parameter_uses(self, function: str, parameter: str) -> Iterator[Position]:
        """Yield a parameter, its uses in the function, and its keyword in calls of it.

        Raises:
            UnfollowedError: A use can't be located.
        """
        node = self._function(function)
        if node is None:
            return
        yield from (self._exact(a, parameter) for a in _arguments(node) if a.arg == parameter)
        todo: list[ast.AST] = [*node.body]
        while todo:
            inner = todo.pop()
            if isinstance(inner, _SCOPES) and parameter in {a.arg for a in _arguments(inner)}:
                todo += _outside(inner)
                continue
            if isinstance(inner, ast.Name) and inner.id == parameter:
                yield self._exact(inner, parameter)
            elif parameter in _identifiers(inner):
                raise UnfollowedError(self._at(inner, f"'{parameter}' is bound twice"))
            if isinstance(inner, ast.Call) and _called(inner) in _READS_ALL:
                raise UnfollowedError(self._at(inner, f"`{_called(inner)}` may read '{parameter}'"))
            todo += ast.iter_child_nodes(inner)

    def holds(self, name: str, function: str = "") -> bool:
        """Return whether a name stands for anything in a function, or in the whole file."""
        node = self._function(function)
        nodes = [*ast.walk(node)] if node is not None else self._nodes
        return any(name in _identifiers(node) for node in nodes)

    def function_uses(self, function: str) -> Iterator[Position]:
        """Yield a function's name where the file defines and reads it.

        Raises:
            UnfollowedError: A use can't be located.
        """
        node = self._function(function)
        if node is not None:
            yield self._behind_def(node)
        for inner in self._nodes:
            if isinstance(inner, ast.Name) and inner.id == function:
                yield self._exact(inner, function)
            elif inner is not node and function in _identifiers(inner):
                raise UnfollowedError(self._at(inner, f"'{function}' is bound twice"))

    def calls(self, tool: str, target: Target | None) -> Iterator[Position]:
        """Yield the tool's name in `context.call("tool", …)`.

        Raises:
            UnfollowedError: The name is also text or an import elsewhere in the file.
        """
        found = [call.args[0] for call in self._calls(tool)]
        yield from (self._exact(name, tool) for name in found)
        for node in self._nodes:
            text = isinstance(node, ast.Constant) and node.value == tool and node not in found
            read = isinstance(node, ast.Attribute) and node.attr == tool and self._is(node, target)
            if (text or read) or (
                isinstance(node, ast.ImportFrom) and tool in {a.name for a in node.names}
            ):
                raise UnfollowedError(self._at(node, f"'{tool}' may stand for the tool"))

    def keywords(
        self, tool: str, target: Target | None, parameters: set[str]
    ) -> Iterator[Position]:
        """Yield a parameter in the calls of a tool and of its function, by any of its names.

        Raises:
            UnfollowedError: A call's arguments are not all written at the call.
        """
        for node in self._nodes:
            if not isinstance(node, ast.Call):
                continue
            named = [k for k in node.keywords if k.arg is None or k.arg in parameters]
            called = self._is(node.func, target)
            if named and (called or any(self._is(argument, target) for argument in node.args)):
                if not called or None in {k.arg for k in named}:
                    raise UnfollowedError(self._at(node, f"the arguments of {tool} are computed"))
                yield from (self._exact(k, str(k.arg)) for k in named)
        for call in self._calls(tool):
            given = call.args[1] if len(call.args) > 1 else None
            if not isinstance(given, ast.Dict):
                if given is not None:
                    raise UnfollowedError(self._at(call, f"the arguments of {tool} are computed"))
                continue
            for key in given.keys:
                if not isinstance(key, ast.Constant):
                    raise UnfollowedError(self._at(call, f"the arguments of {tool} are computed"))
                if key.value in parameters:
                    yield self._exact(key, str(key.value))

    def at(self, line: int, column: int) -> tuple[str, str] | None:
        """Return the function, and its parameter or an empty text, declared at a position."""
        for node in self._nodes:
            if isinstance(node, _Function):
                for name, place in [
                    ("", self._behind_def(node)),
                    *((a.arg, self._place(a, a.arg)) for a in _arguments(node)),
                ]:
                    if place.line == line and place.column <= column <= place.end_column:
                        return node.name, name
        return None

    def _calls(self, tool: str) -> Iterator[ast.Call]:
        for node in self._nodes:
            if isinstance(node, ast.Call) and _called(node) in _CALLS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and first.value == tool:
                    yield node

    @cached_property
    def _imports(self) -> dict[str, str]:
        """What each imported name stands for, with its module."""
        found: dict[str, str] = {}
        for node in self._nodes:
            if isinstance(node, ast.Import):
                found |= {
                    a.asname or (root := a.name.partition(".")[0]): a.name if a.asname else root
                    for a in node.names
                }
            elif isinstance(node, ast.ImportFrom):
                found |= {a.asname or a.name: f"{node.module or ''}.{a.name}" for a in node.names}
        return found

    def _is(self, node: ast.expr, target: Target | None) -> bool:
        """Return whether an expression is a function of this or of an imported file."""
        if target is None:
            return False
        file, function = target
        words = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
        root, dot, rest = words.partition(".")
        if not dot and (Path(self.page.path).resolve() == file or "*" in self._imports):
            return root == function
        module, _, name = f"{self._imports.get(root, '')}{dot}{rest}".rpartition(".")
        return name == function and (not dot or module.rpartition(".")[2] == file.stem)

    def _function(self, name: str) -> _Function | None:
        found = (n for n in self._nodes if isinstance(n, _Function) and n.name == name)
        return next(found, None)

    def _behind_def(self, node: _Function) -> Position:
        line = self.page.lines[node.lineno - 1]
        column = line.find(node.name, line.find("def", _points(line, node.col_offset))) + 1
        return Position(node.lineno, column, column + len(node.name))

    def _place(self, node: ast.arg | ast.expr | ast.keyword, name: str) -> Position:
        column = _points(self.page.lines[node.lineno - 1], node.col_offset) + 1
        return Position(node.lineno, column, column + len(name))

    def _exact(self, node: ast.arg | ast.expr | ast.keyword, name: str) -> Position:
        """Return where a node has a name, within quotes if it is text."""
        place = self._place(node, name)
        line = self.page.lines[place.line - 1]
        at = place.column - 1
        if line[at : at + 1] in {'"', "'"}:
            at += 1
        if line[at : at + len(name)] != name:
            raise UnfollowedError(self._at(node, f"'{name}' can't be located"))
        return Position(place.line, at + 1, at + 1 + len(name))

    def _at(self, node: ast.AST, why: str) -> str:
        return f"{self.page.path}:{getattr(node, 'lineno', 1)}: {why}"


def _arguments(node: _Function | ast.Lambda) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _outside(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    """Return what a nested function evaluates outside of its body: defaults and decorators."""
    return [
        *node.args.defaults,
        *(default for default in node.args.kw_defaults if default is not None),
        *(getattr(node, "decorator_list", ())),
    ]


def _identifiers(node: ast.AST) -> list[str]:
    """Return the names that a node itself binds or reads."""
    if isinstance(node, ast.Attribute | ast.keyword | ast.Constant | ast.ImportFrom):
        return []
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    return [value for _, value in ast.iter_fields(node) if isinstance(value, str)]


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _points(line: str, offset: int) -> int:
    """Return the code points before an offset in UTF-8."""
    return len(line.encode()[:offset].decode("utf-8", "replace"))
