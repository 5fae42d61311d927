"""One editor: its open documents, their projects, and the answers to its requests."""

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from toolmd._lsp import messages
from toolmd._lsp.completion import complete
from toolmd._lsp.expressions import ExpressionReader, completions, explanation
from toolmd._lsp.findings import drawn, fixes
from toolmd._lsp.index import ProjectIndex
from toolmd._lsp.lenses import lenses
from toolmd._lsp.marks import hints, links, semantic_tokens
from toolmd._lsp.navigation import Navigator, location, span_of
from toolmd._lsp.page import EditorPage
from toolmd._lsp.place import Cursor, place_at
from toolmd._lsp.project import EditorProject
from toolmd._lsp.rename import renamable, rename
from toolmd._lsp.symbols import symbols
from toolmd._parse import format_text
from toolmd._parse.fields.table import section_of
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.source import Position
from toolmd.config import find_project


class Editor:
    """A connected editor and its open documents."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._projects: dict[Path | None, EditorProject] = {}
        self._index = ProjectIndex()
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
        told = self._told_of(page, place)
        if not told:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, told))

    def definition(self, uri: str, position: types.Position) -> list[types.Location]:
        """Return where the name at a position is declared, or from there its Python."""
        page = self._page(uri)
        line, column = page.place(position)
        navigator = self._navigator(page)
        found = [*navigator.definition(page, line, column)]
        place = (
            None if found or page.kind is None else place_at(page.kind, page.lines, line, column)
        )
        spec = navigator.project.definition(place.word) if place is not None else None
        file = navigator.project.file_of(spec) if spec is not None else None
        if spec is not None and file is not None:
            title = Position(spec.source.line, 1, 1)
            found.append(location(self._file(file), title))
        return found

    def references(
        self, uri: str, position: types.Position, *, declared: bool
    ) -> list[types.Location]:
        """Return the places of the name at a position."""
        page = self._page(uri)
        line, column = page.place(position)
        return [*self._navigator(page).references(page, line, column, declared=declared)]

    def renamable(self, uri: str, position: types.Position) -> types.Range:
        """Return the range of the name at a position; raises RenameError."""
        page = self._page(uri)
        found = renamable(self._navigator(page).at(page, *page.place(position)))
        return page.range(span_of(page, found.place))

    def rename(self, uri: str, position: types.Position, name: str) -> types.WorkspaceEdit:
        """Return the edits that rename the name at a position; raises RenameError."""
        page = self._page(uri)
        navigator = self._navigator(page)
        found = renamable(navigator.at(page, *page.place(position)))
        return rename(navigator, found.symbol, name)

    def workspace_symbols(self, query: str) -> list[types.WorkspaceSymbol]:
        """Return the names of all open projects that contain a text."""
        return [
            symbol
            for project in self._projects.values()
            for symbol in Navigator(project, self._index, self._file).symbols(query)
        ]

    def semantic_tokens(self, uri: str) -> list[int]:
        """Return the names and expressions of a document."""
        page = self._page(uri)
        return semantic_tokens(self._index.file(page)) if page.kind is not None else []

    def links(self, uri: str) -> list[types.DocumentLink]:
        """Return links to the tools and skills that a document names."""
        page = self._page(uri)
        project = self._project(Path(page.path))
        return [*links(self._index.file(page), project)] if page.kind is not None else []

    def hints(self, uri: str, wanted: types.Range) -> list[types.InlayHint]:
        """Return the hints in a range of a document."""
        page = self._page(uri)
        project = self._project(Path(page.path))
        found = hints(self._index.file(page), project) if page.kind is not None else ()
        return [hint for hint in found if wanted.start <= hint.position <= wanted.end]

    def lenses(self, uri: str) -> list[types.CodeLens]:
        """Return the lenses of a document."""
        page = self._page(uri)
        project = self._project(Path(page.path))
        return [*lenses(self._index.file(page), project)] if page.kind is not None else []

    def project_of(self, uri: str) -> EditorProject:
        """Return the project of a document."""
        return self._project(Path(self._page(uri).path))

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
                    return messages.of_value(parameter.name, parameter.shape)
        if place.text.startswith("#"):
            title = next((h.title for h in place.headings if h.line == place.line), "")
            table = section_of(place.kind, title)
            return messages.of_section(table) if table is not None else ""
        spec = project.definition(place.word) if place.word else None
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

    def _navigator(self, page: EditorPage) -> Navigator:
        navigator = Navigator(self._project(Path(page.path)), self._index, self._file)
        return navigator if page.kind is None else navigator.of(page)

    def _place(self, uri: str, position: types.Position) -> tuple[EditorPage, Cursor | None]:
        page = self._page(uri)
        if page.kind is None:
            return page, None
        line, column = page.place(position)
        return page, place_at(page.kind, page.lines, line, column)
