"""Index the names of a project's definitions: where each one is declared and used."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePath
from typing import NamedTuple

from toolmd._expressions import Token, names_read, tokens
from toolmd._lsp.page import EditorPage
from toolmd._parse.page import CodePlace, Places, locate
from toolmd._parse.writing.formatter import PARSERS
from toolmd._types.call_spec import CallSpec
from toolmd._types.diagnostic import Position


class Symbol(NamedTuple):
    """What a name stands for: two places with equal symbols mean the same."""

    kind: str
    """As `NamePlace.kind`."""
    name: str
    owner: str = ""
    """The definition that it belongs to; empty for a definition itself."""


class Occurrence(NamedTuple):
    """A symbol at a position in a file."""

    symbol: Symbol
    place: Position
    declares: bool = False


@dataclass(frozen=True)
class PlacedExpression:
    """An expression whose tokens have positions in the file."""

    source: str
    at: tuple[int, int]
    """Where the parser found it."""
    tokens: tuple[tuple[Token, Position], ...]

    @property
    def words(self) -> set[str]:
        """The words that are not fields: variables, functions and the words of the language."""
        pairs = pairwise([Token("mark", "", 0), *(token for token, _ in self.tokens)])
        return {
            token.text for before, token in pairs if token.kind == "name" and before.text != "."
        }

    def offset(self, line: int, column: int) -> int | None:
        """Return the offset of a position, up to the end of a sign behind it; None outside."""
        if not self.tokens:
            return None
        first, last = self.tokens[0][1], self.tokens[-1][1]
        if not first[:2] <= (line, column) or (line, column) > (last.line, last.end_column + 2):
            return None
        found = 0
        for token, place in self.tokens:
            if place[:2] <= (line, column):
                found = token.at + column - place.column if place.line == line else token.at
        return found


class FileIndex:
    """The names of one text."""

    def __init__(self, page: EditorPage) -> None:
        self.page = page
        self.kind = page.kind or "tool"
        places = Places()
        spec: CallSpec | None = PARSERS[self.kind](page.text, page.path, places)[0]
        self.spec = spec
        """The definition; None if the text has errors."""
        self.parameters = places.parameters
        own = (n.name for n in places.names if n.kind == "definition" and n.declares)
        stem = PurePath(page.path).name.split(".")[0].replace("-", "_")
        self.name = next(own, spec.name if spec is not None else stem)
        self._places = places

    @cached_property
    def expressions(self) -> list[PlacedExpression]:
        """The expressions, in the order of reading."""
        found = dict.fromkeys(self._places.expressions)
        return [_place(self.page.lines, code) for code in found]

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """All names in the text."""
        found = [
            Occurrence(self._symbol(n.kind, n.name, n.owner), n.place, n.declares)
            for n in self._places.names
        ]
        known = {o.symbol.name: o.symbol for o in found if o.declares and self._is_read(o.symbol)}
        for expression in self.expressions:
            read = {token.at for token in names_read(expression.source)}
            found += [
                Occurrence(known[token.text], place)
                for token, place in expression.tokens
                if token.at in read and token.text in known
            ]
        return list(dict.fromkeys(found))

    def at(self, line: int, column: int) -> Occurrence | None:
        """Return the name at a position."""
        for one in self.occurrences:
            if one.place.line == line and one.place.column <= column <= one.place.end_column:
                return one
        return None

    def _is_read(self, symbol: Symbol) -> bool:
        return symbol.kind in {"parameter", "variable"} and symbol.owner == self.name

    def _symbol(self, kind: str, name: str, owner: str) -> Symbol:
        return Symbol(kind, name, "" if kind == "definition" else owner or self.name)


def _place(lines: list[str], code: CodePlace) -> PlacedExpression:
    found = tokens(code.source)
    places = locate(lines, (token.text for token in found), code.line, code.column)
    both = [(t, p) for t, p in zip(found, places, strict=True) if p is not None]
    return PlacedExpression(code.source, (code.line, code.column), tuple(both))


class ProjectIndex:
    """The index of all definitions of a project; a text is read again only when it changed."""

    def __init__(self) -> None:
        self._files: dict[Path, FileIndex] = {}

    def file(self, page: EditorPage) -> FileIndex:
        """Return the index of a document's current text."""
        path = Path(page.path)
        known = self._files.get(path)
        if known is None or known.page.text != page.text:
            self._files[path] = known = FileIndex(page)
        return known

    def find(
        self, symbol: Symbol, pages: Mapping[Path, EditorPage]
    ) -> Iterator[tuple[EditorPage, Occurrence]]:
        """Yield the places of a symbol in these pages."""
        for page in pages.values():
            if symbol.name in page.text or symbol.name.replace("_", "-") in page.text:
                for one in self.file(page).occurrences:
                    if one.symbol == symbol:
                        yield page, one
