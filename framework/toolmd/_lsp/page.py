"""A document in an editor: its lines, its columns, and the place of the cursor."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types
from pygls.workspace import PositionCodec

from toolmd._parse.fields.table import PARAMETER, SectionTable, section_of
from toolmd._parse.outline import source_lines
from toolmd._parse.page import Mark
from toolmd._parse.words import fold, heading_text, split
from toolmd._parse.writing.formatter import kind_of
from toolmd._types.diagnostic import Span
from toolmd._types.field import Row
from toolmd._types.skill import STEP_KEYS


class EditorPage:
    """A text in the editor; Toolmd counts code points from 1, editors count units from 0."""

    def __init__(self, uri: str, path: str, text: str, codec: PositionCodec) -> None:
        self.uri = uri
        self.path = path
        self.text = text
        self.lines = source_lines(text)
        mark = text[: len(text) - len(text.lstrip("\ufeff"))]
        self._marked = len(mark)
        """The characters of the byte order mark, which `lines` leaves out."""
        self._written = [mark + self.lines[0], *self.lines[1:]]
        self._codec = codec

    @property
    def kind(self) -> str | None:
        """`tool` or `skill`; None for any other file."""
        return kind_of(self.path.lower())

    def position(self, line: int, column: int) -> types.Position:
        """Return the editor's position of a line and a column that count from 1."""
        line = min(max(line, 1), len(self.lines))
        marked = self._marked if line == 1 else 0
        before = self._written[line - 1][: max(column - 1, 0) + marked]
        return types.Position(line - 1, self._codec.client_num_units(before))

    def range(self, span: Span) -> types.Range:
        """Return the editor's range of a span."""
        start = self.position(span.line, span.column)
        return types.Range(start, self.position(span.end_line, span.end_column))

    def whole(self) -> types.Range:
        """Return the range of the whole text."""
        last = len(self.lines)
        return types.Range(types.Position(0, 0), self.position(last, len(self.lines[-1]) + 1))

    def place(self, position: types.Position) -> tuple[int, int]:
        """Return the line and the column, from 1, of an editor's position."""
        at = self._codec.position_from_client_units(self._written, position)
        marked = self._marked if at.line == 0 else 0
        return min(at.line, len(self.lines) - 1) + 1, max(at.character - marked, 0) + 1


_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BULLET = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its line."""

    level: int
    title: str
    line: int


@dataclass(frozen=True)
class Cursor:
    """A cursor's line and the text around it; lines and columns count from 1."""

    kind: str
    lines: tuple[str, ...]
    line: int
    column: int
    headings: tuple[Heading, ...]
    """All headings of the text, in order."""
    fenced: bool

    @property
    def text(self) -> str:
        """The cursor's line."""
        return self.lines[self.line - 1]

    @cached_property
    def section(self) -> SectionTable | None:
        """The section that contains the cursor."""
        for heading in reversed([h for h in self.headings if h.line <= self.line]):
            if (table := section_of(self.kind, heading.title)) is not None:
                return table
        return None

    @cached_property
    def fields(self) -> Mapping[str, Row | str]:
        """The fields of a bullet here, by name; a step's keys have only their description."""
        section = self.section
        if section is None:
            return {}
        if section.children == "steps":
            return {name: key.says for name, key in STEP_KEYS.items()}
        table = PARAMETER if section.children in {"parameters", "properties"} else section
        return {field.name: field for field in table.fields}

    @cached_property
    def content(self) -> int | None:
        """The column at which a bullet's text begins; None if the line is not a bullet."""
        found = _BULLET.match(self.text)
        return None if found is None else found.end() + 1

    @cached_property
    def key(self) -> str:
        """The key on the line, without its markup."""
        pair = self._pair
        return pair[0] if pair else ""

    @cached_property
    def value_column(self) -> int | None:
        """The column at which the line's value begins; None if there is no key."""
        return self._pair[1] if self._pair else None

    @property
    def in_value(self) -> bool:
        """Whether the cursor is after the line's key."""
        return self.value_column is not None and self.column >= self.value_column

    @cached_property
    def _pair(self) -> tuple[str, int] | None:
        if self.content is None:
            return None
        # An empty value counts too, so a word is added in its place.
        text = self.text[self.content - 1 :]
        pair = split(Mark(text + "x", self.line, self.content))
        if pair is None:
            return None
        start = min(pair.value.column, len(self.text) + 1)
        return pair.key.text.strip("*_` "), start

    @property
    def known(self) -> Row | str | None:
        """The field of the line's key, or a step key's description."""
        folded = fold(self.key)
        for name, field in self.fields.items():
            read = field.names if isinstance(field, Row) else ()
            if folded and folded in {fold(word) for word in (name, *read)}:
                return field
        return None

    @property
    def word(self) -> str:
        """The word under the cursor."""
        for found in _WORD.finditer(self.text.replace("-", "_")):
            if found.start() < self.column <= found.end() + 1:
                return found.group()
        return ""

    def value_of(self, key: str) -> str:
        """Return the value of a key in the cursor's own step; of several, the nearest."""
        folded, near = fold(key), ""
        for number, line in enumerate(self.lines, 1):
            if _starts_step(line):
                if number > self.line:
                    break
                near = ""
            here = Cursor(self.kind, self.lines, number, 1, (), fenced=False)
            if fold(here.key) == folded and here.value_column is not None:
                near = line[here.value_column - 1 :].strip("*_` ")
        return near


def _starts_step(line: str) -> bool:
    return re.match(r"\d{1,9}[.)][ \t]", line) is not None or _HEADING.match(line) is not None


def place_at(kind: str, lines: list[str], line: int, column: int) -> Cursor:
    """Find the cursor's place in a `tool` or a `skill`."""
    headings: list[Heading] = []
    fence, fenced = "", False
    for number, text in enumerate(lines, 1):
        if fence:
            fenced = fenced or number == line
            if text.strip().startswith(fence) and not text.strip().strip(fence[0]):
                fence = ""
        elif found := _FENCE.match(text):
            fence = found.group(1)
        elif found := _HEADING.match(text):
            headings.append(Heading(len(found.group(1)), heading_text(found.group(2)), number))
    return Cursor(kind, tuple(lines), line, column, tuple(headings), fenced)
