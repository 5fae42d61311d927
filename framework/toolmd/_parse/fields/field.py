"""The rows of the field table, the sections that contain them, and the units in their names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from toolmd._parse.words.keys import fold
from toolmd._types.schema import JsonType

_DURATIONS = {
    unit: words.split()
    for unit, words in {
        "ms": "ms msec msecs millis millisecond milliseconds",
        "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "hr hrs hour hours",
        "d": "day days",
    }.items()
}
_SIZES = {
    "B": "bytes byte b".split(),
    "KB": "kb kib kilobytes kibibytes".split(),
    "MB": "mb mib megabytes mebibytes".split(),
    "GB": "gb gib gigabytes gibibytes".split(),
}

UNITS: Mapping[str, Mapping[str, str]] = {
    "duration": {word: unit for unit, words in _DURATIONS.items() for word in words},
    "size": {word: unit for unit, words in _SIZES.items() for word in words},
    "rate": {f"per{word}": f"/{unit}" for unit, words in _DURATIONS.items() for word in words},
}
"""The kinds of value that have units: a folded word after a field's name to the unit."""


@dataclass(frozen=True, slots=True)
class Field:
    """A `- **Name**: value` that an author may write."""

    name: str
    attribute: str
    """The attribute of the spec that it sets."""
    kind: str
    """The way its value is read: a key of `values.READERS`, or of its section's own reader."""
    says: str
    """The sentence for the reference page."""
    default: str = ""
    """The value without the field, in words."""
    aliases: tuple[str, ...] = ()
    """Other forms of its name, read without a warning."""
    synonyms: tuple[str, ...] = ()
    """Other words for it, read with a warning that names the field."""
    restricts: bool = False
    """Whether a misspelt one is an error, instead of being repaired."""
    choices: tuple[str, ...] = ()
    fits: tuple[JsonType, ...] = ()
    """The types that it applies to; empty means any."""
    stems: tuple[str, ...] = ()
    """Names that need a unit after them: `Max` of `Max KB`."""
    unit: str = ""
    """The unit in the key, as in `Timeout Seconds`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name that is read as the field."""
        return (self.name, *self.aliases, *self.synonyms)

    def with_units(self) -> Iterator[tuple[str, "Field"]]:
        """Yield each folded name that contains a unit, with the field of that unit."""
        for word, unit in UNITS.get(self.kind, {}).items():
            carrying = replace(self, unit=unit)
            for name in (*self.names, *self.stems):
                yield fold(name) + word, carrying
                yield f"{fold(name)}in{word}", carrying


@dataclass(frozen=True)
class SectionTable:
    """A `## Name` section and the fields below it."""

    name: str
    says: str
    aliases: tuple[str, ...] = ()
    needed: bool = False
    fields: tuple[Field, ...] = ()
    children: str = ""
    """The meaning of its `###` headings: parameters, examples, steps or fields of a result."""
    restricts: bool = False

    def field(self, key: str) -> Field | None:
        """Find the field that a key names, in any spelling."""
        folded = fold(key)
        found = self.by_key.get(folded)
        if found is not None and found.unit == "s" and key[-2:].isalpha() and key[-2:].islower():
            return self.by_key.get(folded.removesuffix("s"), found)  # `Timeouts` is not `Timeout S`
        return found

    @cached_property
    def by_key(self) -> dict[str, Field]:
        """Return the fields by every folded name that an author may write."""
        keys = {key: field for f in self.fields for key, field in f.with_units()}
        for field in self.fields:
            keys.setdefault(fold(field.attribute), field)
            keys |= dict.fromkeys(map(fold, field.names), field)
        return keys
