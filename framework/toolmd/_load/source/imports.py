"""Read from the text of a module what it imports, wherever the import stands."""

import ast
import re
import threading
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_OPENERS = frozenset(
    "__import__ exec eval builtins.__import__ builtins.exec builtins.eval importlib.__import__ "
    "importlib.import_module importlib.reload sys.modules sys.meta_path sys.path_hooks".split()
)
_OPEN_MODULES = ("importlib.util.", "importlib.machinery.", "imp.", "pkgutil.", "runpy.",
                 "zipimport.")  # fmt: skip
"""What imports modules whose names only the run knows."""
_SUSPECTS = re.compile(
    rb"import_module|__import__|\bexec\b|\beval\b|importlib|sys|\bimp\b|pkgutil|runpy|zipimport"
)
"""What stands in the text of a module that may import by a computed name."""
_ATTRIBUTE = re.compile(rb"\.\s*([^\W\d][\w\x80-\xff]*)")


_PARSING = threading.RLock()


class Import(NamedTuple):
    """One import: `from ..store import shelf` is `Import(2, "store", ("shelf",))`."""

    level: int
    module: str
    names: tuple[str, ...] = ()


class Imports(NamedTuple):
    """What one module imports."""

    found: tuple[Import, ...] = ()
    attributes: frozenset[str] = frozenset()
    """The names behind a dot, wherever: they may be modules of a package that is imported."""
    open_ended: bool = False
    """Whether it also imports by names that the text does not state."""


def tree_of(text: bytes | str) -> ast.Module:
    """Parse Python in one thread at a time; raises what `ast.parse` raises.

    CPython 3.11 counts the depth of the trees of all threads together, and raises SystemError where
    two threads are in the middle of one (its issue 106905).
    """
    with _PARSING:
        return ast.parse(text)


def imports_of(data: bytes) -> Imports:
    """Read the imports of a module; text that is not Python imports nothing."""
    try:
        tree = tree_of(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Imports()
    found: list[Import] = []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            found += (Import(0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append(Import(node.level, node.module or "", names))
    # A module has a hundred times as many expressions as imports: they are read by need.
    stated, open_ended = _computed(tree) if _SUSPECTS.search(data) else ([], False)
    attributes = frozenset(name.decode(errors="replace") for name in _ATTRIBUTE.findall(data))
    return Imports((*found, *stated), attributes, open_ended)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            within = getattr(node, name, None)
            if isinstance(within, list):
                todo += reversed(within)


def _computed(tree: ast.Module) -> tuple[list[Import], bool]:
    """Return what calls of `import_module` state, and whether anything is imported unstated."""
    names = bound_names(tree)
    found: list[Import] = []
    stated: set[int] = set()
    open_ended = False
    # A call comes before its parts, so that a name which is stated in it is known by then.
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (said := _stated(node, names)) is not None:
            stated.add(id(node.func))
            found.append(said)
        elif isinstance(node, ast.Attribute | ast.Name) and id(node) not in stated:
            own = node.id if isinstance(node, ast.Name) else ""
            name = dotted(node, names) or own
            open_ended |= name in _OPENERS or name.startswith(_OPEN_MODULES)
    return found, open_ended


def bound_names(tree: ast.Module) -> dict[str, str]:
    """Return the names that absolute imports bind, wherever they stand, and what each means."""
    return dict(_bound_names(tree))


def dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    """Return `httpx.get` for an expression that names it; empty where the name isn't imported."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return ".".join([names[node.id], *reversed(attributes)])


def _bound_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # `import a.b` binds `a`, and `import a.b as c` binds `a.b`.
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or whole, whole
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _stated(call: ast.Call, names: Mapping[str, str]) -> Import | None:
    """Return the import that `import_module` states; None where it is another call."""
    if dotted(call.func, names) != "importlib.import_module" or not call.args:
        return None
    first, *others = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return None
    module = first.value.lstrip(".")
    level = len(first.value) - len(module)
    if level and [ast.unparse(other) for other in others] != ["__package__"]:
        return None
    return Import(level, module)
