"""Find where a tool's Python opens a way out of its own, past its Allowed Domains."""

import ast
import re
from collections.abc import Iterator

from toolmd._load.source.files import File
from toolmd._load.source.imports import bound_names, dotted, tree_of
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.source import Span

_VERBS = "get post put patch delete head options request"
_OPENERS = {
    f"{module}.{name}"
    for module, names in {
        "httpx": f"{_VERBS} stream Client AsyncClient",
        "requests": f"{_VERBS} Session session",
        "urllib.request": "urlopen urlretrieve build_opener OpenerDirector",
        "urllib3": "request PoolManager ProxyManager HTTPConnectionPool HTTPSConnectionPool",
        "http.client": "HTTPConnection HTTPSConnection",
        "aiohttp": "ClientSession request",
        "socket": "socket create_connection",
        "asyncio": "open_connection",
    }.items()
    for name in names.split()
}
_SUSPECTS = re.compile(b"http|requests|urllib|socket|asyncio")
"""What stands in each text that imports one of these."""
_HELP = "take `context.http`, which reaches the tool's Allowed Domains and no other host"


def own_clients(file: File) -> Iterator[Diagnostic]:
    """Return a warning for each call that opens a connection by itself, as far as names tell."""
    if not _SUSPECTS.search(file.data):
        return  # To parse a text takes longer than all other checks of it.
    try:
        tree = tree_of(file.data)
    except (SyntaxError, ValueError, RecursionError):
        return  # The import reports it.
    names = bound_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = dotted(node.func, names)
            if called in _OPENERS:
                message = f"`{called}` goes past the tool's Allowed Domains"
                yield Diagnostic(
                    _span(file.path, node.func), Code.OWN_HTTP_CLIENT, Severity.WARNING, message,
                    _HELP,
                )  # fmt: skip


def _span(path: str, node: ast.expr) -> Span:
    end_line = node.end_lineno or node.lineno
    end = node.end_col_offset if node.end_col_offset is not None else node.col_offset
    return Span(path, node.lineno, node.col_offset + 1, end_line, end + 1)
