"""The rows of the format: the field of a class that a `- **Name**: value` sets carries its row."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args, get_origin

JsonType = Literal["string", "number", "integer", "boolean", "object", "array", "null"]

EXACT = 2**53
"""Up to this value a float represents every whole number exactly."""


class Row(NamedTuple):
    """The row of a field: each package reads what it knows of the field there.

    A new field of Metadata, Safety, Limits or a parameter is a field of its class with a row.
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
    restricts: bool = False
    """Whether a misspelt one is an error, instead of being repaired."""
    compared: str | tuple[str | None, ...] = ""
    """How an edit that weakens it is found: a comparison of `_load.weakening`, or its values from
    the weakest to the strictest; empty for a field that restricts no call."""
    choices: tuple[str, ...] = ()
    fits: tuple[JsonType, ...] = ()
    """The types that it applies to; empty means any."""
    stems: tuple[str, ...] = ()
    """Names that need a unit after them: `Max` of `Max KB`."""
    unit: str = ""
    """The unit in the key, as in `Timeout Seconds`."""
    word: str = ""
    """Its keyword in JSON Schema; `x-` begins one that JSON Schema lacks."""
    counts: str = ""
    """What a bound counts, in the singular; empty for the value itself."""
    phrase: str = ""
    """A few words for prompts and forms, with the value at `{}`; bounds need none."""
    sentence: str = ""
    """A sentence for formats without the keyword, with the value at `{}`; bounds need none."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name that is read as the field."""
        return (self.name, *self.aliases)

    def size(self, bound: float) -> str:
        """Return a bound with what it counts: `3 items`."""
        number = int(bound) if bound % 1 == 0 and abs(bound) <= EXACT else bound
        return f"{number} {self.counts}{'' if bound == 1 else 's'}" if self.counts else f"{number}"


def rows_of(owner: type) -> tuple[Row, ...]:
    """Return the rows of a class's fields, in order; a Literal gives the choices."""
    return tuple(
        row._replace(
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
