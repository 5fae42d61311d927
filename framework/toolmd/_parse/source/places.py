"""The names and expressions of a definition, each at its position: the index of editors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from toolmd._types.schema import Parameter
from toolmd._types.source import Position

NameKind = Literal["definition", "parameter", "variable", "section", "example"]


class NamePlace(NamedTuple):
    """A name where it is declared or used."""

    kind: NameKind
    """A `definition` is a tool, a skill or a prompt; a `section` is one of a workflow."""
    name: str
    """As the spec has it."""
    place: Position
    """Exactly the name as the file writes it."""
    owner: str = ""
    """The definition that a parameter belongs to; empty for the file's own."""
    declares: bool = False


class CodePlace(NamedTuple):
    """An expression, and the position where the search for its first token begins."""

    source: str
    line: int
    column: int


@dataclass(slots=True)
class Places:
    """What a file names, also if the file has errors."""

    names: list[NamePlace] = field(default_factory=list)
    expressions: list[CodePlace] = field(default_factory=list)
    parameters: tuple[Parameter, ...] = ()
    """The parameters that could be read."""


def located(
    lines: Sequence[str], texts: Iterable[str], line: int, column: int
) -> Iterator[Position | None]:
    """Yield the position of each text, in order, at or after a position; None for the rest.

    Expressions wrap over lines, so each search continues where the last one ended.
    """
    number, at = line, column - 1
    for text in texts:
        while 0 < number <= len(lines) and (found := lines[number - 1].find(text, at)) < 0:
            number, at = number + 1, 0
        if not 0 < number <= len(lines):
            yield None
            continue
        at = found + len(text)
        yield Position(number, found + 1, at + 1)
