"""The result of an import: drafts of definitions, and a note on each guess and each loss."""

from dataclasses import dataclass
from typing import NamedTuple


class Note(NamedTuple):
    """Something that was guessed, weakened or left out on the way in."""

    definition: str
    """The tool or skill; empty where it concerns the whole source."""
    path: str
    """The parameter, dotted (`range.start`, `items[].name`); empty for the whole definition."""
    text: str
    """What it was, and what became of it."""
    line: int = 0
    """Its line in the source, from 1; 0 where the source has no lines to name."""

    def __str__(self) -> str:
        where = ".".join(part for part in (self.definition, self.path) if part)
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{where}: {self.text}" if where else f"{place}{self.text}"


class Draft(NamedTuple):
    """The canonical text of one definition; reading it finds no error."""

    kind: str
    """`tool` or `skill`."""
    name: str
    """The definition's name."""
    text: str
    """The markdown of its file."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A whole source, read."""

    drafts: tuple[Draft, ...]
    """The definitions, in the order of the source."""
    notes: tuple[Note, ...] = ()
    """The guesses and losses."""
    refused: tuple[Note, ...] = ()
    """What could not become a definition, with the reason."""
