"""Convert diagnostics and their fixes to the editor's form."""

from collections.abc import Iterable

from lsprotocol import types

from toolmd._lsp.page import EditorPage
from toolmd._types.diagnostic import Diagnostic, Edit, Severity
from toolmd._types.source import Span

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
