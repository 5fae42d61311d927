"""What an import gives: drafts of definitions, and a note on each guess and each loss."""

from dataclasses import dataclass, field
from typing import NamedTuple


class Note(NamedTuple):
    """Something that was guessed, weakened or left out on the way in."""

    definition: str
    """The tool or skill; empty where it concerns the whole source."""
    path: str
    """The parameter, dotted (`range.start`, `items[].name`); empty for the whole definition."""
    text: str
    line: int = 0
    """Where it stands in the source, from 1; 0 where the source has no lines to name."""

    def __str__(self) -> str:
        where = ".".join(part for part in (self.definition, self.path) if part)
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{where}: {self.text}" if where else f"{place}{self.text}"


class Draft(NamedTuple):
    """The canonical text of one definition; reading it finds no error."""

    kind: str
    """`tool` or `skill`."""
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A whole source, read."""

    drafts: tuple[Draft, ...]
    notes: tuple[Note, ...] = ()
    refused: tuple[Note, ...] = ()
    """What could not become a definition, with the reason."""


@dataclass(slots=True)
class Notebook:
    """Gathers drafts and notes while a source is read."""

    drafts: list[Draft] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    refused: list[Note] = field(default_factory=list)

    def tell(self, definition: str, path: str, text: str, line: int = 0) -> None:
        """Write a note, unless the same one stands there already."""
        note = Note(definition, path, text, line)
        if note not in self.notes:
            self.notes.append(note)

    def refuse(self, definition: str, text: str, line: int = 0) -> None:
        """Write down what could not be imported, and why."""
        self.refused.append(Note(definition, "", text, line))

    def close(self) -> Imported:
        """Give all that was gathered."""
        return Imported(tuple(self.drafts), tuple(self.notes), tuple(self.refused))
