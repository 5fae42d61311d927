"""The rows of the format: the field of a class that a `- **Name**: value` sets carries its row."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_origin

from toolmd._types.schema import JsonType


@dataclass(frozen=True, slots=True)
class Row:
    """The row of a field: the parser, the formatter, the reference and the editor read it.

    A new field of Metadata, Safety or Limits is a field of its class with a row.
    """

    kind: str
    """The way its value is read and written: a key of `values.READERS` and of `fields.WRITERS`."""
    says: str
    """The sentence for the reference page."""
    default: str = ""
    """The value without the field, in words."""
    name: str = ""
    """Its name in markdown: that of the attribute, in title case."""
    attribute: str = ""
    """The field of the class that it sets."""
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


def rows_of(owner: type) -> tuple[Row, ...]:
    """Return the rows of a class's fields, in order; a Literal gives the choices."""
    return tuple(
        replace(
            row,
            name=row.name or attribute.replace("_", " ").title(),
            attribute=attribute,
            choices=tuple(_choices(get_args(hint)[0])) if row.kind == "choice" else (),
        )
        for attribute, hint in owner.__annotations__.items()
        for row in getattr(hint, "__metadata__", ())
        if isinstance(row, Row)
    )


def _choices(hint: Any) -> Iterator[str]:
    for one in get_args(hint):
        if isinstance(one, str):
            yield one
        elif get_origin(one) is Literal:
            yield from get_args(one)
