"""The page being read: its decoded text, its lines, its names, and the diagnostics about them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Edit, Position, Severity, Span
from toolmd._types.identity import Identity
from toolmd._types.schema import Parameter

Fix = tuple[Edit, ...]
NameKind = Literal["definition", "parameter", "variable", "section", "example"]


class NamePlace(NamedTuple):
    """A name where it is declared or used."""

    kind: NameKind
    """A `definition` is a tool or a skill; a `section` is one of a workflow."""
    name: str
    """As the spec has it."""
    place: Position
    """Exactly the name as the file writes it."""
    owner: str = ""
    """The definition that a parameter belongs to; empty for the file's own."""
    declares: bool = False


class CodePlace(NamedTuple):
    """An expression, and the position where the search for its first token begins."""

    source: str
    line: int
    column: int


@dataclass(slots=True)
class Places:
    """What a file names, also if the file has errors."""

    names: list[NamePlace] = field(default_factory=list)
    expressions: list[CodePlace] = field(default_factory=list)
    parameters: tuple[Parameter, ...] = ()
    """The parameters that could be read."""


def locate(
    lines: Sequence[str], texts: Iterable[str], line: int, column: int
) -> Iterator[Position | None]:
    """Yield the position of each text, in order, at or after a position; None for the rest.

    Expressions wrap over lines, so each search continues where the last one ended.
    """
    number, at = line, column - 1
    for text in texts:
        while 0 < number <= len(lines) and (found := lines[number - 1].find(text, at)) < 0:
            number, at = number + 1, 0
        if not 0 < number <= len(lines):
            yield None
            continue
        at = found + len(text)
        yield Position(number, found + 1, at + 1)


_FURTHEST = 20
"""The number of lines below a key within which its value is searched."""


class Mark(NamedTuple):
    """A piece of text and its start; line and column count from 1."""

    text: str
    line: int
    column: int

    def at(self, offset: int, length: int = 0) -> "Mark":
        """Return the piece of `length` characters from `offset` on; 0 means up to the end."""
        text = self.text[offset : offset + length if length else None]
        return Mark(text, self.line, self.column + offset)

    def last(self, word: str) -> "Mark":
        """Return the piece from the last place of a word on; the whole without it."""
        before, found, behind = self.text.rpartition(word)
        if not found:
            return self
        column = self.column + len(before) if "\n" not in before else 1
        return Mark(found + behind, self.line + before.count("\n"), column)

    @property
    def place(self) -> Position:
        """Return the position of the first line."""
        width = len(self.text.partition("\n")[0])
        return Position(self.line, self.column, self.column + max(width, 1))

    def strip(self) -> "Mark":
        """Remove the white space at both ends."""
        text = self.text.strip()
        if len(text) == len(self.text):
            return self
        return Mark(text, self.line, self.column + self.text.find(text))


@dataclass(slots=True)
class Page:
    """A file's lines, and the diagnostics collected while they are read."""

    path: str
    lines: list[str]
    """The lines read as markdown; front matter is blanked out."""
    hidden: list[str] = field(default_factory=list)
    """The original lines of the front matter."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    places: Places = field(default_factory=Places)
    identity: Identity | None = None
    """The facts and roles that the settings know; None checks none of them."""

    def named(
        self, kind: NameKind, name: str, mark: Mark, owner: str = "", *, declares: bool = False
    ) -> None:
        """Record a name where it first is a whole word at or after a mark's start."""
        source = self.source(mark.line)
        spellings = (name, name.replace("_", "-"), name.replace("_", "\\_"))
        for spelling in dict.fromkeys(filter(None, spellings)):
            word = re.compile(rf"(?<![\w-])(_{{0,2}})({re.escape(spelling)})\1(?![\w-])")
            if (found := word.search(source, mark.column - 1)) is not None:
                place = Position(mark.line, found.start(2) + 1, found.end(2) + 1)
                self.places.names.append(NamePlace(kind, name, place, owner, declares))
                return

    def mark(self, text: str, line: int, after: int = 0) -> Mark:
        """Find the first line of `text` in the source line `line`, at or after column `after`."""
        first = text.partition("\n")[0] if "\n" in text else text
        found = self.source(line).find(first, after - 1 if after > 0 else 0) if first else -1
        return Mark(text, line, found + 1 if found >= 0 else 1)

    def source(self, line: int) -> str:
        """Return an original line of the file, counted from 1; empty after the last line."""
        lines = self.hidden if line <= len(self.hidden) else self.lines
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def error(self, code: Code, mark: Mark, message: str, help_: str = "", fix: Fix = ()) -> None:
        """Report a problem that keeps the definition from loading."""
        self._report(Severity.ERROR, code, mark, message, help_, fix)

    def warn(self, code: Code, mark: Mark, message: str, help_: str = "", fix: Fix = ()) -> None:
        """Report a problem that was repaired."""
        self._report(Severity.WARNING, code, mark, message, help_, fix)

    def hint(self, code: Code, mark: Mark, message: str, help_: str) -> None:
        """Report a possible improvement."""
        self._report(Severity.HINT, code, mark, message, help_, ())

    def _report(
        self, severity: Severity, code: Code, mark: Mark, message: str, help_: str, fix: Fix
    ) -> None:
        mark = self._found(mark)
        more = mark.text.count("\n")
        last = mark.line + more
        if more and last <= len(self.lines):
            end = len(self.lines[last - 1].rstrip()) + 1
        else:
            width = len(mark.text.split("\n", 1)[0])
            last, end = mark.line, mark.column + max(width, 1)
        span = Span(self.path, mark.line, mark.column, last, max(end, 1))
        if not all(self._holds(edit, mark) for edit in fix):
            fix = ()
        self.diagnostics.append(Diagnostic(span, code, severity, message, help_, fix))

    def _found(self, mark: Mark) -> Mark:
        """Return the mark at its actual position: a value may begin on a line below its key."""
        if self.lines and mark.line > len(self.lines):
            return Mark("", len(self.lines), len(self.lines[-1]) + 1)
        source = self.source(mark.line)
        if not source or mark.column <= len(source) + 1:
            return mark
        first = mark.text.partition("\n")[0]
        for number in range(mark.line, min(mark.line + _FURTHEST, len(self.lines))):
            if first and (at := self.lines[number].find(first)) >= 0:
                return Mark(mark.text, number + 1, at + 1)
        return Mark(first, mark.line, len(source) + 1)

    def _holds(self, edit: Edit, mark: Mark) -> bool:
        """Return whether an edit lies within the file and replaces the text of its mark.

        A value over several lines is one text here, but not in the file.
        """
        for line, column in ((edit.line, edit.column), (edit.end_line, edit.end_column)):
            source = self.source(line)
            if line > len(self.lines) + 1 or (source and column > len(source) + 1):
                return False
        if edit not in replace(mark, edit.text):
            return True
        return self.source(edit.line)[edit.column - 1 : edit.end_column - 1] == mark.text

    @property
    def has_errors(self) -> bool:
        """Return whether any error was reported, which keeps the definition from loading."""
        return any(d.severity is Severity.ERROR for d in self.diagnostics)


def replace(mark: Mark, text: str) -> Fix:
    """Build the fix that replaces a mark within one line by `text`."""
    return (Edit(mark.line, mark.column, mark.line, mark.column + len(mark.text), text),)


def insert_below(line: int, text: str) -> Fix:
    """Build the fix that inserts a whole line below `line`."""
    return (Edit(line + 1, 1, line + 1, 1, text + "\n"),)


MAX_BYTES = 64 * 1024


def decode(data: bytes, path: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Decode the bytes of a definition.

    Returns:
        The text, or None and the diagnostic if the file is too large or not UTF-8.
    """
    page = Page(path, [])
    if len(data) > MAX_BYTES:
        what = f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read"
        help_ = "split it, or move its prose elsewhere"
        page.error(Code.FILE_TOO_LARGE, Mark("", 1, 1), what, help_)
        return None, tuple(page.diagnostics)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        what = f"the file is not UTF-8: byte {data[error.start]:#04x} at offset {error.start}"
        page.error(Code.NOT_UTF8, Mark("", line, column), what, "save it as UTF-8")
        return None, tuple(page.diagnostics)
