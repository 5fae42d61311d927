"""The place of a decision record in its file's chain."""

from typing import NamedTuple


class ChainLine(NamedTuple):
    """The number of a line of an audit file, and its hash, which includes the hash before it."""

    number: int
    """The number of the record; the file's first line, which is none, has 0."""
    hash: str
    """Hexadecimal SHA-256."""
