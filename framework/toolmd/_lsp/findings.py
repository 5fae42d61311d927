"""Convert diagnostics, their fixes and the outline to the editor's form."""

from collections.abc import Iterable

from lsprotocol import types

from toolmd._lsp.page import EditorPage, Heading
from toolmd._parse.fields.table import section_of
from toolmd._types.diagnostic import Diagnostic, Edit, Severity, Span

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.HINT: types.DiagnosticSeverity.Information,
}


def drawn(page: EditorPage, diagnostics: Iterable[Diagnostic]) -> list[types.Diagnostic]:
    """Return the diagnostics in the editor's form, with the help below the message."""
    return [_drawn(page, diagnostic) for diagnostic in diagnostics]


def fixes(
    page: EditorPage, diagnostics: Iterable[Diagnostic], wanted: types.Range
) -> list[types.CodeAction]:
    """Return the fixes of the diagnostics that touch a range."""
    actions = []
    for diagnostic in diagnostics:
        shown = _drawn(page, diagnostic)
        if diagnostic.fix and _touch(shown.range, wanted):
            edits = [_edit(page, edit) for edit in diagnostic.fix]
            actions.append(
                types.CodeAction(
                    diagnostic.help or f"Fix {diagnostic.code}",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[shown],
                    is_preferred=True,
                    edit=types.WorkspaceEdit(changes={page.uri: edits}),
                )
            )
    return actions


def _drawn(page: EditorPage, diagnostic: Diagnostic) -> types.Diagnostic:
    message = diagnostic.message
    if diagnostic.help:
        message += f"\nhelp: {diagnostic.help}"
    return types.Diagnostic(
        page.range(diagnostic.span),
        message,
        severity=_SEVERITIES[diagnostic.severity],
        code=str(diagnostic.code),
        source="toolmd",
    )


def _edit(page: EditorPage, edit: Edit) -> types.TextEdit:
    span = Span(page.path, edit.line, edit.column, edit.end_line, edit.end_column)
    return types.TextEdit(page.range(span), edit.text)


def _touch(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end


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
