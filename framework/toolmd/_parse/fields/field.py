"""What a row of the field table says of a field, and of the section that it stands in."""

from dataclasses import dataclass
from functools import cached_property

from toolmd._model.schema import JsonType
from toolmd._parse.words.keys import fold


@dataclass(frozen=True, slots=True)
class Field:
    """One `- **Name**: value` that an author may write."""

    name: str
    attribute: str
    """The noun's field that it fills."""
    kind: str
    """How its value is read: a key of `values.READERS`, or of its section's own reader."""
    says: str
    """One sentence for the reference page."""
    default: str = ""
    """What is taken where it is not written, in words."""
    aliases: tuple[str, ...] = ()
    restricts: bool = False
    """Whether a misspelt one must close the door instead of being repaired."""
    choices: tuple[str, ...] = ()
    fits: tuple[JsonType, ...] = ()
    """The types that it speaks of; empty fits any."""


@dataclass(frozen=True)
class SectionTable:
    """One `## Name` and the fields below it."""

    name: str
    says: str
    aliases: tuple[str, ...] = ()
    needed: bool = False
    fields: tuple[Field, ...] = ()
    children: str = ""
    """What its `###` headings are: parameters, examples, steps or fields of a result."""
    restricts: bool = False

    def field(self, key: str) -> Field | None:
        """Find the field that a key names, in any way of writing it."""
        return self._by_key.get(fold(key))

    @cached_property
    def _by_key(self) -> dict[str, Field]:
        return {fold(name): f for f in self.fields for name in (f.name, f.attribute, *f.aliases)}
