"""The lines of an audit file: each contains its own hash, which includes the hash before it."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from toolmd._types.audit import ChainLine

SUFFIX = ".jsonl"
STARTED = "%Y%m%dT%H%M%S"
"""The format of the UTC time with which the name of a file begins."""
MAX_LINE = 1024 * 1024
"""The bytes of the longest line that a reader accepts; records are far shorter."""
_BLOCK = 16 * 1024
_START = b'{"hash":"'
_DIGITS = 64
_NUMBER_DIGITS = 20
_BODY = len(_START) + _DIGITS + 2
"""Where the part of a line begins that is hashed, after the hash and `",`."""


class Record(NamedTuple):
    """One record, its file's name, and its place in the file's chain."""

    file: str
    number: int
    record: dict[str, Any]
    hash: str

    @property
    def id(self) -> str:
        """The id of the record in its project: `FILE:NUMBER`."""
        return f"{self.file}:{self.number}"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON, for people and other systems."""
        place = {"id": self.id, "number": self.number, "file": self.file}
        return {**place, **self.record, "hash": self.hash}


class DamagedError(ValueError):
    """A line of an audit file is no record."""


def beginning(name: str) -> ChainLine:
    """Return what the first line of the file with this name follows."""
    return ChainLine(-1, hashlib.sha256(name.encode()).hexdigest())


def next_line(last: ChainLine, record: str) -> tuple[bytes, ChainLine]:
    """Return the line of a record, a JSON object, and the new end of the chain."""
    number = last.number + 1
    body = f'"number":{number},{record[1:]}\n'
    digest = hashlib.sha256(f"{last.hash}{body}".encode()).hexdigest()
    return f'{{"hash":"{digest}",{body}'.encode(), ChainLine(number, digest)


def follows(last: ChainLine, line: bytes) -> ChainLine | None:
    """Return the end of the chain with this line; None where the line does not fit behind it."""
    number, body = last.number + 1, line[_BODY:]
    if not body.startswith(b'"number":%d,' % number):
        return None
    digest = hashlib.sha256(last.hash.encode("ascii") + body).hexdigest()
    fits = line[:_BODY] == b'%s%s",' % (_START, digest.encode("ascii"))
    return ChainLine(number, digest) if fits else None


def place_of(line: bytes) -> ChainLine | None:
    """Return the number and hash that a line states; None where it states none."""
    number, comma, _ = line[_BODY:].removeprefix(b'"number":').partition(b",")
    digest = line[len(_START) : len(_START) + _DIGITS].decode("ascii", "replace")
    # So many digits are no number of a record; Python can't read thousands.
    plausible = comma and number.isdigit() and len(number) < _NUMBER_DIGITS
    return ChainLine(int(number), digest) if plausible else None


def parsed(file: str, line: bytes) -> Record:
    """Return the record of a line, which may have been changed. Raises DamagedError."""
    try:
        record = json.loads(line)
        number, digest = record.pop("number"), record.pop("hash")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{file}: a line is no record: {error}") from error
    if not isinstance(number, int) or not isinstance(digest, str):
        raise DamagedError(f"{file}: a line has no number or hash")
    return Record(file, number, record, digest)


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Return the whole lines of a file, with their ends; an unfinished last one is left out.

    Raises DamagedError for a line that is too long.
    """
    while line := file.readline(MAX_LINE):
        if not line.endswith(b"\n"):
            if len(line) < MAX_LINE:
                return
            raise DamagedError(f"{file.name}: a line has more than {MAX_LINE} bytes")
        yield line


def lines_backward(file: BinaryIO) -> Iterator[bytes]:
    """Return the whole lines of a file, with their ends, the last one first."""
    place, rest, ended = file.seek(0, 2), b"", False
    while place > 0:
        size = min(_BLOCK, place)
        place -= size
        file.seek(place)
        first, *others = (file.read(size) + rest).split(b"\n")
        for line in reversed(others):
            # What stands behind the last end of a line is not a whole line.
            if ended:
                yield line + b"\n"
            ended = True
        rest = first
        if len(rest) >= MAX_LINE:
            raise DamagedError(f"{file.name}: a line has more than {MAX_LINE} bytes")
    if ended:
        yield rest + b"\n"


def files_in(folder: Path) -> list[Path]:
    """Return the files of an audit, the oldest first."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except FileNotFoundError:
        return []
