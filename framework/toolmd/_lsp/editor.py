"""One editor: its open documents, their projects, and the answers to its requests."""

from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from toolmd._lsp import messages
from toolmd._lsp.completion import complete
from toolmd._lsp.findings import drawn, fixes
from toolmd._lsp.page import EditorPage
from toolmd._lsp.place import Cursor, place_at
from toolmd._lsp.project import EditorProject
from toolmd._lsp.symbols import symbols
from toolmd._parse import format_text
from toolmd._parse.fields.table import section_of
from toolmd._parse.words.keys import fold
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.source import Span


class Editor:
    """A connected editor and its open documents."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._projects: dict[Path | None, EditorProject] = {}
        self._told: set[Path] = set()
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
        for file in {*found, *self._told}:
            page = self._page(uris.from_fs_path(str(file)) or "")
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

    def complete(self, uri: str, position: types.Position) -> list[types.CompletionItem]:
        """Return the completions at a position."""
        page, place = self._place(uri, position)
        if place is None:
            return []
        return complete(page, place, self._project(Path(page.path)))

    def hover(self, uri: str, position: types.Position) -> types.Hover | None:
        """Return the hover text at a position."""
        page, place = self._place(uri, position)
        if place is None or place.fenced:
            return None
        told = self._told_of(page, place)
        if not told:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, told))

    def definition(self, uri: str, position: types.Position) -> types.Location | None:
        """Return the place of the tool or skill that is named at a position."""
        page, place = self._place(uri, position)
        project = self._project(Path(page.path))
        spec = project.definition(place.word) if place is not None and place.word else None
        file = project.file_of(spec) if spec is not None else None
        if spec is None or file is None:
            return None
        other = self._page(uris.from_fs_path(str(file)) or "")
        line = spec.source.line
        span = Span(other.path, line, 1, line, 1)
        return types.Location(other.uri, other.range(span))

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

    def _told_of(self, page: EditorPage, place: Cursor) -> str:
        if place.text.startswith("#"):
            title = next((h.title for h in place.headings if h.line == place.line), "")
            table = section_of(place.kind, fold(title))
            return messages.of_section(table) if table is not None else ""
        spec = self._project(Path(page.path)).definition(place.word) if place.word else None
        if spec is not None and spec.source.path:
            return messages.of_definition(spec)
        if place.known is not None and not place.in_value:
            return messages.of_field(place.key, place.known)
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
        (self._told.add if diagnostics else self._told.discard)(file)
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(page.uri, drawn(page, diagnostics))
        )

    def _project(self, file: Path) -> EditorProject:
        project = EditorProject.root_of(file)
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

    def _place(self, uri: str, position: types.Position) -> tuple[EditorPage, Cursor | None]:
        page = self._page(uri)
        if page.kind is None:
            return page, None
        line, column = page.place(position)
        return page, place_at(page.kind, page.lines, line, column)
