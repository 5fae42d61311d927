"""Where a thing stands in a file."""

from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of one file; lines and columns count from 1, the end column is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Source(NamedTuple):
    """The file and the line of the title of a definition."""

    path: str
    line: int
