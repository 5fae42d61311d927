"""A document in an editor: its lines, and the editor's way of counting columns."""

from lsprotocol import types
from pygls.workspace import PositionCodec

from toolmd._parse.blocks.tokens import source_lines
from toolmd._parse.kinds import kind_of
from toolmd._types.source import Span


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
        """`tool`, `skill` or `prompt`; None for any other file."""
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
