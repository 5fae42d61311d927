"""Build the outline of a definition for an editor."""

from lsprotocol import types

from toolmd._lsp.page import EditorPage
from toolmd._lsp.place import Heading
from toolmd._parse.fields.table import section_of
from toolmd._types.source import Span

_KINDS = {
    "parameters": types.SymbolKind.Variable,
    "properties": types.SymbolKind.Property,
    "examples": types.SymbolKind.Event,
    "steps": types.SymbolKind.Function,
}


def symbols(
    page: EditorPage, kind: str, headings: tuple[Heading, ...]
) -> list[types.DocumentSymbol]:
    """Return the headings as a tree."""
    tops: list[types.DocumentSymbol] = []
    above: list[tuple[int, types.DocumentSymbol, list[types.DocumentSymbol]]] = []
    child = types.SymbolKind.String
    for number, heading in enumerate(headings):
        while above and above[-1][0] >= heading.level:
            above.pop()
        table = section_of(kind, heading.title)
        if table is not None:
            child = _KINDS.get(table.children, types.SymbolKind.String)
        end = _end(page, headings, number)
        span = Span(page.path, heading.line, 1, end, len(page.lines[end - 1]) + 1)
        line = Span(page.path, heading.line, 1, heading.line, len(page.lines[heading.line - 1]) + 1)
        children: list[types.DocumentSymbol] = []
        symbol = types.DocumentSymbol(
            heading.title or "…",
            _kind(number, sectional=table is not None, child=child),
            page.range(span),
            page.range(line),
            children=children,
        )
        (above[-1][2] if above else tops).append(symbol)
        above.append((heading.level, symbol, children))
    return tops


def _kind(number: int, *, sectional: bool, child: types.SymbolKind) -> types.SymbolKind:
    if number == 0:
        return types.SymbolKind.Class
    return types.SymbolKind.Namespace if sectional else child


def _end(page: EditorPage, headings: tuple[Heading, ...], number: int) -> int:
    """Return the last line before the next heading of the same or a higher level."""
    level = headings[number].level
    for following in headings[number + 1 :]:
        if following.level <= level:
            return following.line - 1
    return len(page.lines)
