"""Where a thing stands in a file."""

from typing import NamedTuple


class Span(NamedTuple):
    """A stretch of one file; lines and columns count from 1, the end column is exclusive."""

    path: str
    """Below the project, with slashes."""
    line: int
    """Of its first character."""
    column: int
    """Of its first character, in code points."""
    end_line: int
    """Of the place behind its last character."""
    end_column: int
    """Of that place."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Position(NamedTuple):
    """Where a word stands in a line; what a spec keeps of it is no part of its meaning."""

    line: int
    """From 1."""
    column: int
    """From 1, in code points."""
    end_column: int
    """Behind its last character."""


class Source(NamedTuple):
    """The file and the line of the title of a definition."""

    path: str
    """Below the project, with slashes."""
    line: int
    """From 1."""
