"""Read the decision records of a project, and verify that none was changed or removed."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from toolmd._call.audit.log import (
    AUDIT_FOLDER,
    DamagedError,
    Record,
    beginning,
    files_in,
    follows,
    is_unnoted,
    lines,
    lines_backward,
    parsed,
)
from toolmd._store import MEMORY, STORE_FILE
from toolmd._store.store import Store
from toolmd._types.settings import Settings
from toolmd._types.stored import ChainLine
from toolmd.config.state_files import is_there
from toolmd.errors import ArgumentError

DecisionKind = Literal["run", "deny", "confirm", "review", "answered", "superseded"]
"""What a record says about a call: the key `decision`."""


class Wanted(NamedTuple):
    """Which records are wanted; None wants all."""

    tool: str | None = None
    user: str | None = None
    outcome: DecisionKind | None = None
    conversation: str | None = None
    since: str | None = None
    """The earliest time, as records have it: ISO 8601 in UTC."""
    until: str | None = None
    """The time before which records are wanted."""

    def has(self, record: Mapping[str, object]) -> bool:
        """Return whether a record is wanted."""
        at = str(record.get("at", ""))
        return (
            all(
                wanted is None or record.get(key) == wanted
                for key, wanted in zip(_KEYS, self, strict=False)
            )
            and (self.since is None or at >= self.since)
            and (self.until is None or at < self.until)
        )


CHANGED = "it was changed, or a record before it is missing"
CUT = "the newest records of the file are missing from there on"
GONE = "the file is missing"
UNKNOWN = "the store does not know the file: the store was removed or replaced"
_KEYS = ("tool", "user", "decision", "conversation")
ALL = Wanted()


class Verified(NamedTuple):
    """The result of a verification."""

    records: int
    """How many records there are."""
    file: str | None = None
    """The file that is damaged; None where all records are as they were written."""
    first_bad: int | None = None
    """The number of its first bad or missing record."""
    problem: str = ""
    """What is wrong with it."""

    @property
    def sound(self) -> bool:
        """Whether no record was changed or removed."""
        return self.file is None

    def to_dict(self) -> dict[str, object]:
        """Return the result as JSON."""
        return {"sound": self.sound, **self._asdict()}


class AuditReader:
    """The records of a project in the order of their times; reading needs no lock."""

    def __init__(self, settings: Settings) -> None:
        """Keep where the project's records and its store are."""
        self._settings = settings
        self._folder = settings.state / AUDIT_FOLDER

    def latest(self, limit: int, wanted: Wanted = ALL, before: str | None = None) -> list[Record]:
        """Return at most `limit` wanted records, the latest first.

        Only the ends of the files are read, as far as needed.

        Args:
            limit: The most records to return.
            wanted: Which records are wanted.
            before: The id of a record; only earlier ones are returned.

        Raises:
            DamagedError: a line is no record, or there is no record `before`.
            OSError: a file can't be read, or has no bytes.
        """
        files = [_records_backward(path) for path in self._files()]
        found: Iterator[Record] = heapq.merge(*files, key=_order, reverse=True)
        if before is not None:
            found = _behind(found, before)
        return list(islice((one for one in found if wanted.has(one.record)), limit))

    def records(self, wanted: Wanted = ALL) -> Iterator[Record]:
        """Return the wanted records, the oldest first; raises as `latest` does."""
        files = [_records(path) for path in self._files()]
        found = heapq.merge(*files, key=_order)
        return (one for one in found if wanted.has(one.record))

    def verify(self) -> Verified:
        """Check each record of each file, with little memory.

        Raises:
            OSError: a file can't be read, or has no bytes.
            UnreachableError: the store can't be reached.
        """
        # Before the records: others write meanwhile, and what is noted must not be ahead.
        heads = self._heads()
        total, bad = 0, Verified(0)
        paths = {path.stem: path for path in self._files()}
        for name in sorted({*paths, *(heads or ())}):
            found = self._compared(paths.get(name), name, heads)
            total += found.records
            bad = found if bad.sound else bad
        return bad._replace(records=total)

    def _compared(
        self, path: Path | None, name: str, heads: Mapping[str, ChainLine] | None
    ) -> Verified:
        """Check one file, and whether the store knows it."""
        if path is None:
            return Verified(0, name, 1, GONE)
        head = None if heads is None else heads.get(name)
        found = _verified(path, head)
        if heads is None or head is not None or not found.sound or is_unnoted(path):
            return found
        # A file that began meanwhile may have been noted by now.
        if name in (self._heads() or ()):
            return found
        return Verified(found.records, name, found.records + 1, UNKNOWN)

    def _heads(self) -> Mapping[str, ChainLine] | None:
        """Return the newest noted record of each file; None where the store keeps nothing."""
        settings = self._settings
        if settings.store == MEMORY:
            return None
        if settings.store == "sqlite" and not is_there(settings.state / STORE_FILE):
            return {}
        store = Store(settings.store, settings.state)
        try:
            return store.audit_heads.all()
        finally:
            store.close()

    def _files(self) -> list[Path]:
        return [path for path in files_in(self._folder) if is_there(path)]


def _verified(path: Path, head: ChainLine | None) -> Verified:
    """Check the chain of one file, and that it has the record that was noted of it."""
    name, last = path.stem, beginning(path.stem)
    with path.open("rb") as file:
        try:
            for line in lines(file):
                end = follows(last, line)
                if end is None or (head is not None and head.number == end.number and head != end):
                    total = last.number + 1 + sum(1 for _ in lines(file))
                    return Verified(total, name, last.number + 1, CHANGED)
                last = end
        except DamagedError as error:
            return Verified(max(0, last.number), name, last.number + 1, str(error))
    if last.number < 0 or (head is not None and last.number < head.number):
        return Verified(max(0, last.number), name, last.number + 1, CUT)
    return Verified(last.number)


def _records(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        for line in islice(lines(file), 1, None):
            yield parsed(path.stem, line)


def _records_backward(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        for line in lines_backward(file):
            record = parsed(path.stem, line)
            if record.number > 0:
                yield record


def _order(record: Record) -> tuple[str, str, int]:
    return str(record.record.get("at", "")), record.file, record.number


def _behind(found: Iterable[Record], before: str) -> Iterator[Record]:
    records = iter(found)
    if not any(one.id == before for one in records):
        raise ArgumentError("before", "must be the id of a decision record")
    return records
