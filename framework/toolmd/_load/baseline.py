"""Remember of each definition what was live last, over restarts, and which edits were accepted.

A journal: each line is a row, a later one of the same name stands for the earlier, and a line
that is cut or damaged is none. Written under a lock, by whichever process changes what is live.
Acceptances are in the store.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zlib import crc32

from toolmd._load.files import DefinitionKind
from toolmd._store import is_postgres
from toolmd._store.store import Store
from toolmd._types.pending_change import ChangeKey, StoredChange
from toolmd.config import state_folder
from toolmd.config.state_files import EmptiedError, is_there, locked, replace_whole

FOLDER = "live"
"""Below the state folder; of its own, so that it can be watched without what calls write."""
FILE = "definitions.journal"
LOCK = "definitions.lock"
SPARE = 1024 * 1024
"""The bytes of outdated lines after which the journal is rewritten."""

Version = tuple[int, int]
"""Of the journal: its inode and its size in bytes; it only grows, or is replaced."""
_NONE: Version = (0, 0)
_KINDS: Mapping[bytes, DefinitionKind] = {b"tool": "tool", b"skill": "skill"}


class LastLive(NamedTuple):
    """What was live under one name."""

    name: str
    kind: DefinitionKind
    path: str
    digest: str
    """Hex sha256 of the file that says exactly this; empty where none does."""
    spec: bytes
    """The spec as JSON."""
    taken: int = 0
    """The number of the last acceptance in the store that was taken for this name."""


_SPEC_OF = attrgetter("spec")


class Known(NamedTuple):
    """What was live at one moment, by name."""

    rows: Mapping[str, LastLive]
    version: Version | None
    """Of the journal; None where it can't be used."""


class Baseline:
    """The rows of a project; where the journal can't be used, this process alone remembers."""

    def __init__(self, state: Path, *, spare: int = SPARE) -> None:
        self._spare = spare
        self.folder = state / FOLDER
        self._state = state
        self.file = self.folder / FILE
        self._own: dict[str, LastLive] = {}
        self._known = Known({}, _NONE)
        self._read_to = 0
        """Bytes of the journal's whole lines that `_known` holds."""
        self.problem = ""
        """Why the journal can't be used, or what it lost; empty where all is well."""

    def load(self) -> Known:
        """Return what was live last; what the journal has lost, this process still knows.

        Raises EmptiedError for a journal without bytes where this process knows nothing yet.
        """
        self.problem = ""
        try:
            is_there(self.file)
            with contextlib.suppress(FileNotFoundError), self.file.open("rb") as opened:
                version = _version(opened.fileno())
                if version != self._known.version:
                    self._follow(opened, version)
                return self._known._replace(rows={**self._own, **self._known.rows})
        except OSError as error:
            if isinstance(error, EmptiedError) and not self._own:
                raise
            self.problem = self._about(error)
            return Known(dict(self._own), None)
        return Known(dict(self._own), _NONE)

    def save(self, known: Known, live: Mapping[str, LastLive], forget: Iterable[str] = ()) -> bool:
        """Remember what is live now; False where somebody else wrote since `known` was loaded."""
        rows = known.rows
        changed = [r for n, r in live.items() if (old := rows.get(n)) is not r and old != r]
        gone = [name for name in forget if name in known.rows]
        if (changed or gone) and known.version is not None:
            try:
                if not self._write(known, changed, gone):
                    return False
            except OSError as error:
                self.problem = self._about(error)
        for name in gone:
            self._own.pop(name, None)
        self._own |= live
        return True

    def accept(self, row: LastLive) -> None:
        """Accept a file's content as live from now on, in every process of the project."""
        while not self.save(self.load(), {row.name: row}):
            pass

    def _about(self, error: OSError) -> str:
        return f"{self.file}: {error.strerror}" if error.strerror else str(error)

    def _follow(self, journal: BinaryIO, version: Version) -> None:
        """Read what was added to the journal, or all of it where it is another."""
        known = self._known
        grown = known.version is not None and known.version[0] == version[0]
        if not grown or version[1] < self._read_to:
            known, self._read_to = Known({}, version), 0
        journal.seek(self._read_to)
        data = journal.read(version[1] - self._read_to)
        rows = dict(known.rows)
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.split(b"\n"):
            try:
                name, row = _row(line)
            except (ValueError, LookupError):
                if line:
                    self.problem = f"{self.file}: it has damaged lines"
                continue
            rows.pop(name, None)
            if row is not None:
                rows[name] = row
        self._read_to += len(whole)
        self._known = Known(rows, version)

    def _write(self, known: Known, changed: list[LastLive], gone: list[str]) -> bool:
        state_folder(self._state)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        lines = [_line(row.name, row) for row in changed]
        lines += [_line(name, None) for name in gone]
        with locked(self.folder / LOCK):
            if not is_there(self.file):
                if known.version != _NONE:
                    return False
                replace_whole(self.file, b"".join(lines))
                return True
            descriptor = os.open(self.file, os.O_RDWR | os.O_APPEND)
            try:
                version = _version(descriptor)
                if version != known.version:
                    return False
                rows = {**known.rows, **{row.name: row for row in changed}}
                if version[1] > self._spare + 2 * sum(map(len, map(_SPEC_OF, rows.values()))):
                    # Where nothing is left the removals stay: the journal is never empty.
                    lines = [_line(n, r) for n, r in rows.items() if n not in gone] or lines
                    replace_whole(self.file, b"".join(lines))
                else:
                    # What a crash cut off must not join the next line.
                    cut = os.pread(descriptor, 1, version[1] - 1) != b"\n"
                    _append(descriptor, b"\n" * cut + b"".join(lines), version[1])
            finally:
                os.close(descriptor)
        return True


def _row(line: bytes) -> tuple[str, LastLive | None]:
    check, _, rest = line.partition(b" ")
    if int(check, 16) != crc32(rest):
        raise ValueError("damaged")
    name, kind, digest, taken, path, spec = rest.split(b"\t", 5)
    # Without an escape, JSON text is what stands between its quotes.
    told = json.loads(path) if b"\\" in path else path[1:-1].decode()
    row = LastLive(name.decode(), _KINDS[kind], told, digest.decode(), spec, int(taken))
    return row.name, row if spec else None


def _line(name: str, row: LastLive | None) -> bytes:
    # JSON writes tabs and line ends as escapes; the rest is words.
    words = (name, "tool", "", "0", '""')
    if row is not None:
        words = (name, row.kind, row.digest, str(row.taken), json.dumps(row.path))
    rest = "\t".join(words).encode() + b"\t" + (row.spec if row else b"")
    return b"%08x %b\n" % (crc32(rest), rest)


def _version(descriptor: int) -> Version:
    status = os.fstat(descriptor)
    return status.st_ino, status.st_size


def _append(descriptor: int, data: bytes, size: int) -> None:
    """Add to a file of this size; a write that a full disk cut short is undone."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        os.ftruncate(descriptor, size)
        raise


class StoredChanges:
    """The changes in the store, read with the first question of one reading of all files."""

    def __init__(self, store: Store) -> None:
        """Keep the store, which is opened with the first question."""
        self._store = store
        self._known: Mapping[ChangeKey, StoredChange] | None = None
        self.problem = ""
        """Why the store could not be asked; empty where it was, or need not be."""

    def accepted(self, key: ChangeKey, taken: int) -> int | None:
        """Return the number of a change's acceptance; None where it is pending.

        `taken` is the number of the last acceptance that was taken: each counts once.
        """
        found = self._all().get(key)
        return found.number if found and found.accepted and found.number > taken else None

    def elsewhere(self, name: str, edit: str) -> list[bytes] | None:
        """Return the policies that stay live on other machines until this edit is accepted.

        With SQLite there is no other machine. None where the store can't be asked.
        """
        if not is_postgres(self._store.setting):
            return []
        known = self._all()
        if self.problem:
            return None
        return [
            one.spec
            for key, one in known.items()
            if key.name == name and key.edit == edit and not one.accepted
        ]

    def propose(self, changes: Iterable[tuple[ChangeKey, bytes, int]]) -> None:
        """Store the changes that are pending here."""
        if changes := list(changes):
            try:
                self._store.changes.propose(changes)
            except Exception as error:  # noqa: BLE001 - they are pending in any case
                self.problem = str(error)

    def _all(self) -> Mapping[ChangeKey, StoredChange]:
        if self._known is None:
            try:
                self._known = self._store.changes.all()
            except Exception as error:  # noqa: BLE001 - nothing counts as accepted
                self._known, self.problem = {}, str(error)
        return self._known
