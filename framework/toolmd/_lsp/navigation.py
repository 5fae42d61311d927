"""Find what the name at a cursor means: its declaration, its uses, its Python."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from lsprotocol import types

from toolmd._lsp.index import Occurrence, ProjectIndex, Symbol
from toolmd._lsp.page import EditorPage
from toolmd._lsp.project import EditorProject
from toolmd._lsp.python import PythonFile, UnfollowedError
from toolmd._types.source import Position, Span

Place = tuple[EditorPage, Position]
_KINDS = {
    "tool": types.SymbolKind.Function,
    "skill": types.SymbolKind.Class,
    "prompt": types.SymbolKind.String,
}


class Navigator:
    """The names of one project and their places, in markdown and Python."""

    def __init__(
        self, project: EditorProject, index: ProjectIndex, page_of: Callable[[Path], EditorPage]
    ) -> None:
        files = project.files
        self.project = project
        self.index = index
        self.pages = {path: page for path in files["md"] if (page := page_of(path)).kind}
        self._python = files["py"]
        self._page_of = page_of

    def of(self, page: EditorPage) -> "Navigator":
        """Add a document, which may be outside of the project's folders."""
        self.pages[Path(page.path)] = page
        return self

    def at(self, page: EditorPage, line: int, column: int) -> Occurrence | None:
        """Return the name at a position; in Python, that of what it implements."""
        if page.kind is not None:
            return self.index.file(page).at(line, column)
        found = PythonFile(page).at(line, column)
        spec = self.project.implemented_at(Path(page.path), found[0]) if found else None
        if found is None or spec is None:
            return None
        place = Position(line, column, column)
        if not found[1]:
            return Occurrence(Symbol("definition", spec.name), place)
        for parameter in spec.parameters:
            own = self.parameter(spec.name, parameter.name)
            if own is not None and own[1] == found[1]:
                return Occurrence(Symbol("parameter", parameter.name, spec.name), place)
        return None

    def definition(self, page: EditorPage, line: int, column: int) -> Iterator[types.Location]:
        """Yield where a name is declared; from its declaration, its Python."""
        found = self.at(page, line, column)
        if found is None:
            return
        if not found.declares:
            declared = [p for p in self.uses(found.symbol) if p[1].declares]
            uses = declared or [*self.uses(found.symbol)][:1]
            yield from (location(own, one.place) for own, one in uses)
            return
        for file, place in self.implementation(found.symbol):
            yield location(file, place)

    def implementation(self, symbol: Symbol) -> Iterator[Place]:
        """Yield the Python function of a definition, or its parameter."""
        owner = symbol.owner or symbol.name
        target = self.project.python_of(owner)
        if target is not None and symbol.kind in {"definition", "parameter"}:
            file = self.python_file(target[0])
            found = file.parameter(target[1], symbol.name) if symbol.owner else None
            place = found[1] if found is not None else file.function(target[1])
            if place is not None:
                yield file.page, place

    def python_file(self, path: Path) -> PythonFile:
        """Return the Python of a path."""
        return PythonFile(self._page_of(path))

    def parameter(self, owner: str, name: str) -> tuple[PythonFile, str] | None:
        """Return the Python file of a parameter, and its name there."""
        target = self.project.python_of(owner)
        if target is None:
            return None
        file = self.python_file(target[0])
        found = file.parameter(target[1], name)
        return (file, found[0]) if found is not None else None

    def uses(self, symbol: Symbol) -> Iterator[tuple[EditorPage, Occurrence]]:
        """Yield the places of a symbol in the definitions."""
        return self.index.find(symbol, self.pages)

    def in_python(self, symbol: Symbol) -> Iterator[Place]:
        """Yield the places of a symbol in the project's Python.

        Raises:
            UnfollowedError: There may be a place that can't be found.
        """
        owner = symbol.owner or symbol.name
        target = self.project.python_of(owner)
        if target is not None and symbol.kind in {"definition", "parameter"}:
            file = self.python_file(target[0])
            if symbol.kind == "parameter":
                found = file.parameter(target[1], symbol.name)
                uses = file.parameter_uses(target[1], found[0]) if found is not None else ()
            else:
                uses = file.function_uses(target[1]) if target[1] == symbol.name else ()
            yield from ((file.page, place) for place in uses)
        own = self.parameter(owner, symbol.name) if symbol.kind == "parameter" else None
        for path in self._python:
            other = self.python_file(path)
            if not any(name in other.page.text for name in {owner, *(target or ())[1:]}):
                continue
            if symbol.kind == "definition":
                yield from ((other.page, place) for place in other.calls(owner, target))
            elif symbol.kind == "parameter":
                names = {symbol.name, own[1]} if own is not None else {symbol.name}
                yield from ((other.page, place) for place in other.keywords(owner, target, names))

    def references(
        self, page: EditorPage, line: int, column: int, *, declared: bool
    ) -> Iterator[types.Location]:
        """Yield every place that can be found of the name at a position."""
        found = self.at(page, line, column)
        if found is None:
            return
        for own, one in self.uses(found.symbol):
            if declared or not one.declares:
                yield location(own, one.place)
        with suppress(UnfollowedError):
            for place in dict.fromkeys(self.in_python(found.symbol)):
                yield location(*place)

    def symbols(self, query: str) -> Iterator[types.WorkspaceSymbol]:
        """Yield the tools, skills, prompts and parameters whose name contains a text."""
        for page in self.pages.values():
            file = self.index.file(page)
            for one in file.occurrences:
                named = one.declares and one.symbol.kind in {"definition", "parameter"}
                if named and query.casefold() in one.symbol.name.casefold():
                    is_own = one.symbol.kind == "definition"
                    kind = _KINDS[file.kind] if is_own else types.SymbolKind.Variable
                    yield types.WorkspaceSymbol(
                        location(page, one.place), one.symbol.name, kind,
                        container_name=one.symbol.owner or None,
                    )  # fmt: skip


def location(page: EditorPage, place: Position) -> types.Location:
    """Return a place in the editor's form."""
    return types.Location(page.uri, page.range(span_of(page, place)))


def span_of(page: EditorPage, place: Position) -> Span:
    """Return the span of a place within a line."""
    return Span(page.path, place.line, place.column, place.line, place.end_column)
