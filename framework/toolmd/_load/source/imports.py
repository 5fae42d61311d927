"""Read from the text of a module what it imports, wherever the import stands."""

import ast
import re
import threading
from collections.abc import Iterator, Mapping

_PARSING = threading.RLock()


def tree_of(text: bytes | str) -> ast.Module:
    """Parse Python in one thread at a time; raises what `ast.parse` raises.

    CPython 3.11 counts the depth of the trees of all threads together, and raises SystemError where
    two threads are in the middle of one (its issue 106905).
    """
    with _PARSING:
        return ast.parse(text)


def levels_of(data: bytes) -> list[int]:
    """Return how far above its own package each relative import of a module begins."""
    return [len(dots) for dots in re.findall(rb"^[ \t]*from[ \t]+(\.+)", data, re.MULTILINE)]


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
