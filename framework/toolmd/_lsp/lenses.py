"""Lenses above examples and policy changes, and the commands behind them."""

from collections.abc import Iterator

from lsprotocol import types

from toolmd._lsp.index import FileIndex
from toolmd._lsp.navigation import span_of
from toolmd._lsp.project import EditorProject
from toolmd._types.source import Span

RUN = "toolmd.runExample"
"""Runs an example: its arguments are the document's URI, the tool, and the example's title."""
ACCEPT = "toolmd.acceptChange"
"""Accepts a policy change: its arguments are the document's URI and the definition's name."""


def lenses(file: FileIndex, project: EditorProject) -> Iterator[types.CodeLens]:
    """Yield a lens above each example, and one above a title with a pending policy change."""
    page = file.page
    for one in file.occurrences if file.kind == "tool" else ():
        if one.symbol.kind == "example" and one.declares:
            command = types.Command("▶ Run", RUN, None, [page.uri, file.name, one.symbol.name])
            yield types.CodeLens(page.range(span_of(page, one.place)), command)
    for change in project.pending_changes:
        if change.name == file.name:
            many = len(change.weakened)
            title = f"Accept policy change ({many} weakened)"
            command = types.Command(title, ACCEPT, None, [page.uri, file.name])
            line = Span(page.path, change.line, 1, change.line, 1)
            yield types.CodeLens(page.range(line), command)
