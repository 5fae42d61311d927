"""Find the function of a definition in the Python of its folder; nothing is run."""

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from toolmd._load.definitions.folders import PLUGIN
from toolmd._load.source.files import File
from toolmd._load.source.imports import tree_of
from toolmd._load.source.modules import code_hash

_PACKAGE = "__init__.py"
_OUTER = (ast.stmt, ast.excepthandler, ast.match_case)
_MOST_TEXTS = 4096
_functions: dict[str, frozenset[str] | None] = {}
"""The functions of texts, by their hex sha256; None where a text is not Python."""


class Place(NamedTuple):
    """Where a function is: in a file of the folder, or in an installed module."""

    function: str
    file: File | None = None
    module: str = ""
    """The dotted name of an installed module; empty where there is a file."""
    named: bool = False
    """Whether the tool's file says so."""

    @property
    def target(self) -> str:
        """Return the place as people see it: `path:function`, or `module:function`."""
        return f"{self.module if self.file is None else self.file.path}:{self.function}"


class Beside:
    """The Python of one folder of definitions, and of the folders below it."""

    def __init__(self, files: Iterable[File]) -> None:
        self._files = {file.parts: file for file in files}

    def place(self, definition: File, name: str, named: str = "") -> Place | tuple[File, ...]:
        """Find the function of a definition; several files where more than one has a tool's.

        Args:
            definition: The file of the tool or the skill.
            name: Its name.
            named: The `module:function` that a tool's file names, if any.
        """
        if named:
            module, _, function = named.partition(":")
            file = self._module(definition, module)
            return Place(function, file, "" if file is not None else module, named=True)
        if (sibling := self.sibling(definition)) is not None:
            return Place(name, sibling)
        if definition.parts[-1].endswith(".skill.md"):
            return ()  # Its steps run, whatever else has its name.
        found = self.holders(definition, name)
        return Place(name, found[0]) if len(found) == 1 else found

    def sibling(self, definition: File) -> File | None:
        """Find the Python of the same stem in the same folder, written as kebab or as snake."""
        if not self._files:
            return None
        *above, name = definition.parts
        stem = name.rsplit(".", 2)[0]
        for wanted in dict.fromkeys((stem.replace("-", "_"), stem, stem.replace("_", "-"))):
            if (found := self._files.get((*above, f"{wanted}.py"))) is not None:
                return found
        return None

    def holders(self, definition: File, function: str) -> tuple[File, ...]:
        """Return the public modules of the same folder that have a public function of the name.

        A file that is not Python counts where a line of it begins that function.
        """
        return tuple(
            file
            for name, file in self._modules.get(definition.parts[:-1], ())
            if name[0] != "_" and file.parts != (PLUGIN,) and _has(file, function)
        )

    def _module(self, definition: File, name: str) -> File | None:
        """Find a module of the same folder by its name; a file goes before a package."""
        inside = self._modules.get(definition.parts[:-1], ())
        found = [file for known, file in inside if known == name]
        return min(found, key=lambda f: (f.parts[-1] == _PACKAGE, "-" in f.parts[-1]), default=None)

    @cached_property
    def _modules(self) -> dict[tuple[str, ...], list[tuple[str, File]]]:
        """Return the modules and packages of each folder, with their names in snake case."""
        found: dict[tuple[str, ...], list[tuple[str, File]]] = {}
        for file in self._files.values():
            parts = file.parts[:-1] if file.parts[-1] == _PACKAGE else file.parts
            if parts:
                found.setdefault(parts[:-1], []).append((module_name(file), file))
        return found


def read_beside(folder: Path) -> Beside:
    """Read the Python of a folder, whatever project it belongs to."""
    files = []
    for path in (*sorted(folder.glob("*.py")), *sorted(folder.glob(f"*/{_PACKAGE}"))):
        with suppress(OSError):
            parts = path.relative_to(folder).parts
            files.append(File(path.as_posix(), str(path), parts, path.read_bytes()))
    return Beside(files)


def module_name(file: File) -> str:
    """Return the name under which `Implemented By` finds a file of its folder."""
    last = file.parts[-2] if file.parts[-1] == _PACKAGE else file.parts[-1].removesuffix(".py")
    return last.replace("-", "_")


def _has(file: File, function: str) -> bool:
    if function.encode() not in file.data:
        return False  # To parse each module costs more than to look.
    known = _functions_of(file)
    if known is not None:
        return function in known
    begun = rf"^(async\s+)?def\s+{re.escape(function)}\b"
    return re.search(begun.encode(), file.data, re.MULTILINE) is not None


def _functions_of(file: File) -> frozenset[str] | None:
    digest = code_hash(file)
    if digest not in _functions:
        if len(_functions) >= _MOST_TEXTS:
            _functions.clear()
        _functions[digest] = _read(file.data)
    return _functions[digest]


def _read(data: bytes) -> frozenset[str] | None:
    try:
        return frozenset(_defined(tree_of(data)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defined(tree: ast.Module) -> Iterator[str]:
    """Yield the functions of a module, also those below an `if` or a `try`."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif not isinstance(node, ast.ClassDef):
            todo += (inner for inner in ast.iter_child_nodes(node) if isinstance(inner, _OUTER))
