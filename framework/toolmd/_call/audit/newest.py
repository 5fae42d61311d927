"""Keep the audit's newest number and hash in a second file, so that a cut end shows."""

import os
from pathlib import Path
from typing import NamedTuple
from weakref import finalize

from toolmd.config.state_files import create_file

SUFFIX = ".newest"
_DIGITS = 20
_LENGTH = _DIGITS + 1 + 64 + 1
_LOST = b"lost\n"
"""The content where a mark was removed."""


class ChainMark(NamedTuple):
    """A record's place in the chain."""

    number: int
    hash: str


class MarkFile:
    """The mark of an audit's newest record: it may lag behind the records, never be ahead.

    It is overwritten once a record is stored for good.
    """

    def __init__(self, path: Path, first: ChainMark | None = None) -> None:
        """Open the file; create it with the mark `first` where there is none.

        Without `first` the audit has lost its mark, and the new file has none. Raises OSError.
        """
        create_file(path, _LOST if first is None else _line(first))
        self._descriptor = os.open(path, os.O_RDWR)
        # A dispatcher that is never closed ends with its process, or before.
        self.close = finalize(self, os.close, self._descriptor)
        """Close the file; closing twice does nothing."""

    def read(self) -> ChainMark | None:
        """Return the mark; None where none can be read."""
        words = b""
        # A mark that is being written is read again.
        while words != (words := os.pread(self._descriptor, _LENGTH + 1, 0)):
            pass
        if len(words) != _LENGTH:
            return None
        number, _, digest = words.decode("ascii", "replace").strip().partition(" ")
        return ChainMark(int(number), digest) if number.isdecimal() else None

    def move(self, mark: ChainMark) -> None:
        """Write a later mark; keep the mark of another process that is later still."""
        # Fields of fixed width: a later mark is greater as bytes too.
        if os.pread(self._descriptor, _DIGITS, 0) < b"%020d" % mark.number:
            self.write(mark)

    def write(self, mark: ChainMark) -> None:
        """Write the mark in one piece; raises OSError."""
        os.pwrite(self._descriptor, _line(mark), 0)


def _line(mark: ChainMark) -> bytes:
    return b"%020d %s\n" % (mark.number, mark.hash.encode("ascii"))
