"""The result of an import: drafts of definitions, and a note for each guess and each loss."""

import re
from dataclasses import dataclass
from typing import NamedTuple

_IMPLEMENTED_BY = "- **Implemented By**:"
RESTRICTION = "Restriction"
"""The first word of the key of a sentence that somebody must decide about."""
NOT_ENFORCED = "not_enforced"
"""The key of Metadata's `extra` for what a schema of a source restricts and no field holds."""
RESTRICTED = re.compile(rf"^- \*\*{RESTRICTION} \d+\*\*: (.*)\n", re.MULTILINE)
"""The line of such a sentence in a draft, with the sentence as its group."""


class Note(NamedTuple):
    """A note on a guess, a weakened restriction or a loss of an import."""

    definition: str
    """The tool or skill; empty for the whole source."""
    path: str
    """The parameter, dotted (`range.start`, `items[].name`); empty for the whole definition."""
    text: str
    """The original, and the change."""
    line: int = 0
    """Its line in the source, from 1; 0 if the source has no lines."""

    def __str__(self) -> str:
        where = ".".join(part for part in (self.definition, self.path) if part)
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{where}: {self.text}" if where else f"{place}{self.text}"


class Draft(NamedTuple):
    """The canonical text of one definition; it parses without errors."""

    kind: str
    """`tool` or `skill`."""
    name: str
    """The definition's name."""
    text: str
    """The markdown of its file."""

    @property
    def implemented_by(self) -> str:
        """What its Implemented By names; empty without one."""
        found = (line for line in self.text.splitlines() if line.startswith(_IMPLEMENTED_BY))
        return next(found, "").removeprefix(_IMPLEMENTED_BY).strip()


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of importing a source."""

    drafts: tuple[Draft, ...]
    """The definitions, in the order of the source."""
    notes: tuple[Note, ...] = ()
    """The guesses and losses."""
    refused: tuple[Note, ...] = ()
    """The items that could not be imported, each with the reason."""
