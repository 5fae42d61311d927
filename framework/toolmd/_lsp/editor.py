"""One editor: its open documents, their projects, and the answers to its requests."""

import re
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from toolmd._lsp.completion import (
    ExpressionReader,
    complete,
    completions,
    explanation,
    of_definition,
    of_field,
    of_section,
    of_value,
)
from toolmd._lsp.index import ProjectIndex, Symbol
from toolmd._lsp.page import Cursor, EditorPage, Heading, place_at
from toolmd._lsp.project import EditorProject
from toolmd._parse import format_text
from toolmd._parse.fields.table import section_of
from toolmd._types.diagnostic import Diagnostic, Edit, Position, Severity, Span
from toolmd.config import find_project


class Editor:
    """A connected editor and its open documents."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._projects: dict[Path | None, EditorProject] = {}
        self._index = ProjectIndex()
        self._with_findings: set[Path] = set()
        """The files with diagnostics in the editor."""

    def close(self) -> None:
        """Close the projects."""
        for project in self._projects.values():
            project.close()

    def typed(self, uri: str) -> None:
        """Show the diagnostics of a document's current text."""
        page = self._page(uri)
        if page.kind is not None:
            self._show(page, self._diagnostics(page))

    def saved(self, uri: str) -> None:
        """Reload the project, and show all of its diagnostics."""
        project = self._project(Path(self._page(uri).path))
        project.reload()
        self.show_project(project)

    def show_project(self, project: EditorProject) -> None:
        """Show the diagnostics of saved files; a changed document keeps its own."""
        found = project.saved()
        for file in {*found, *self._with_findings}:
            page = self._file(file)
            if not self._changed(page, file):
                self._show(page, found.get(file, ()))

    def opened(self, uri: str) -> None:
        """Open the project of a document; show the diagnostics of both."""
        file = Path(self._page(uri).path)
        known = len(self._projects)
        project = self._project(file)
        if len(self._projects) > known:
            self.show_project(project)
        self.typed(uri)

    def closed(self, uri: str) -> None:
        """Show the diagnostics of a document's file, in place of those of its unsaved text."""
        page = self._page(uri)
        if page.kind is not None:
            file = Path(page.path)
            found = self._project(file).saved() if file.exists() else {}
            self._show(page, found.get(file.resolve(), ()))

    def changed(self, files: Iterable[str]) -> None:
        """Reload the open projects of files that any program wrote, renamed or deleted."""
        folders = {find_project(Path(uris.to_fs_path(uri) or "").parent) for uri in files}
        for project in [self._projects[root] for root in folders if root in self._projects]:
            project.reload()
            self.show_project(project)

    def complete(self, uri: str, position: types.Position) -> list[types.CompletionItem]:
        """Return the completions at a position."""
        page, place = self._place(uri, position)
        project = self._project(Path(page.path))
        if place is None or place.fenced:
            return []
        file = self._index.file(page)
        found = ExpressionReader(file, project).at(place.line, place.column)
        if found is not None:
            return completions(file, found[1], place.line, place.column)
        return complete(page, place, project)

    def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """Return the hover text at a position."""
        page, place = self._place(uri, position)
        if place is None or place.fenced:
            return None
        told = self._explain(page, place)
        if not told:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, told))

    def definition(self, uri: str, position: types.Position) -> list[types.Location]:
        """Return where the name at a position is declared, or from there its Python."""
        page, place = self._place(uri, position)
        if place is None:
            return []
        project = self._project(Path(page.path))
        found = self._index.file(page).at(place.line, place.column)
        if found is not None and not found.declares:
            uses = [*self._index.find(found.symbol, self._pages(page, project))]
            declared = [use for use in uses if use[1].declares] or uses[:1]
            if declared:
                return [_location(own, one.place) for own, one in declared]
        if found is not None and found.declares:
            return self._python(found.symbol, project)
        spec = project.definition(place.word)
        file = project.file_of(spec) if spec is not None else None
        if spec is None or file is None:
            return []
        return [_location(self._file(file), Position(spec.source.line, 1, 1))]

    def references(
        self, uri: str, position: types.Position, *, declared: bool
    ) -> list[types.Location]:
        """Return the places of the name at a position in the project's definitions."""
        page, place = self._place(uri, position)
        found = self._index.file(page).at(place.line, place.column) if place is not None else None
        if found is None:
            return []
        pages = self._pages(page, self._project(Path(page.path)))
        return [
            _location(own, one.place)
            for own, one in self._index.find(found.symbol, pages)
            if declared or not one.declares
        ]

    def _python(self, symbol: Symbol, project: EditorProject) -> list[types.Location]:
        """Return the Python function of a definition or of a parameter's owner."""
        target = project.python_of(symbol.owner or symbol.name)
        if target is None or symbol.kind not in {"definition", "parameter"}:
            return []
        page = self._file(target[0])
        starts = re.compile(rf"(?:async\s+)?def\s+(?={re.escape(target[1])}\b)")
        for number, line in enumerate(page.lines, 1):
            if (match := starts.match(line)) is not None:
                place = Position(number, match.end() + 1, match.end() + 1 + len(target[1]))
                return [_location(page, place)]
        return []

    def _pages(self, page: EditorPage, project: EditorProject) -> dict[Path, EditorPage]:
        """Return the project's definitions, and a document that may be outside of its folders."""
        pages = {path: own for path in project.definitions if (own := self._file(path)).kind}
        return {**pages, Path(page.path): page}

    def formatted(self, uri: str) -> list[types.TextEdit]:
        """Return the canonical text as one edit; none if it is canonical or can't be parsed."""
        page = self._page(uri)
        text = format_text(page.text, page.path) if page.kind is not None else None
        return [types.TextEdit(page.whole(), text)] if text not in (None, page.text) else []

    def fixes(self, uri: str, wanted: types.Range) -> list[types.CodeAction]:
        """Return the fixes of the diagnostics in a range."""
        page = self._page(uri)
        return fixes(page, self._diagnostics(page), wanted) if page.kind is not None else []

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        """Return a document's outline."""
        page = self._page(uri)
        if page.kind is None:
            return []
        return symbols(page, page.kind, place_at(page.kind, page.lines, 1, 1).headings)

    def _explain(self, page: EditorPage, place: Cursor) -> str:
        file, project = self._index.file(page), self._project(Path(page.path))
        within = ExpressionReader(file, project).at(place.line, place.column)
        if within is not None and (told := explanation(*within)):
            return told
        named = file.at(place.line, place.column)
        if named is not None and named.symbol.kind == "parameter":
            owner = project.definition(named.symbol.owner)
            own = file.parameters if named.symbol.owner == file.name else ()
            for parameter in own or (owner.parameters if owner is not None else ()):
                if parameter.name == named.symbol.name:
                    return of_value(parameter.name, parameter.shape)
        if place.text.startswith("#"):
            title = next((h.title for h in place.headings if h.line == place.line), "")
            table = section_of(place.kind, title)
            return of_section(table) if table is not None else ""
        spec = project.definition(place.word) if place.word else None
        if spec is not None and spec.source.path:
            return of_definition(spec)
        if place.known is not None and not place.in_value:
            return of_field(place.key, place.known)
        return ""

    def _diagnostics(self, page: EditorPage) -> tuple[Diagnostic, ...]:
        file = Path(page.path)
        project = self._project(file)
        if not self._changed(page, file):
            found = project.saved().get(file.resolve())
            if found is not None:
                return found
        return project.typed(page.kind or "tool", page.text, page.path)

    def _changed(self, page: EditorPage, file: Path) -> bool:
        """Return whether a document differs from its file."""
        if page.uri not in self._server.workspace.text_documents:
            return False
        try:
            return file.read_bytes().decode("utf-8", "replace") != page.text
        except OSError:
            return True

    def _show(self, page: EditorPage, diagnostics: tuple[Diagnostic, ...]) -> None:
        file = Path(page.path).resolve()
        (self._with_findings.add if diagnostics else self._with_findings.discard)(file)
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(page.uri, draw(page, diagnostics))
        )

    def _project(self, file: Path) -> EditorProject:
        project = find_project(file.parent)
        if project not in self._projects:
            self._projects[project] = EditorProject(project)
        return self._projects[project]

    def _page(self, uri: str) -> EditorPage:
        document = self._server.workspace.get_text_document(uri)
        try:
            text = document.source
        except (OSError, UnicodeError):
            text = ""
        return EditorPage(uri, document.path, text, self._server.workspace.position_codec)

    def _file(self, file: Path) -> EditorPage:
        return self._page(uris.from_fs_path(str(file)) or "")

    def _place(self, uri: str, position: types.Position) -> tuple[EditorPage, Cursor | None]:
        page = self._page(uri)
        if page.kind is None:
            return page, None
        line, column = page.place(position)
        return page, place_at(page.kind, page.lines, line, column)


def _location(page: EditorPage, place: Position) -> types.Location:
    """Return a place in the editor's form."""
    span = Span(page.path, place.line, place.column, place.line, place.end_column)
    return types.Location(page.uri, page.range(span))


_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.HINT: types.DiagnosticSeverity.Information,
}


def draw(page: EditorPage, diagnostics: Iterable[Diagnostic]) -> list[types.Diagnostic]:
    """Return the diagnostics in the editor's form, with the help below the message."""
    return [_draw(page, diagnostic) for diagnostic in diagnostics]


def fixes(
    page: EditorPage, diagnostics: Iterable[Diagnostic], wanted: types.Range
) -> list[types.CodeAction]:
    """Return the fixes of the diagnostics that touch a range."""
    actions = []
    for diagnostic in diagnostics:
        shown = _draw(page, diagnostic)
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


def _draw(page: EditorPage, diagnostic: Diagnostic) -> types.Diagnostic:
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
