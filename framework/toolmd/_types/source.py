"""Positions in a file."""

from collections.abc import Mapping
from typing import NamedTuple

SUFFIXES: Mapping[str, str] = {".tool.md": "tool", ".skill.md": "skill"}
"""The ends of the names of definitions, each with the kind of definition."""


class Span(NamedTuple):
    """A part of one file; lines and columns count from 1, the end column is exclusive."""

    path: str
    """Relative to the project, with slashes."""
    line: int
    """The line of the first character."""
    column: int
    """The column of the first character, in code points."""
    end_line: int
    """The line of the position after the last character."""
    end_column: int
    """The column of that position."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Position(NamedTuple):
    """The position of a word in a line; it is not part of a spec's meaning."""

    line: int
    """From 1."""
    column: int
    """From 1, in code points."""
    end_column: int
    """The column after the last character."""


class Source(NamedTuple):
    """The file of a definition, and the line of its title."""

    path: str
    """Relative to the project, with slashes."""
    line: int
    """From 1."""
