"""Remember of each definition what was live last, over restarts, and which edits were accepted.

One file with a line for each name, written whole and under a lock by whichever process changes
what is live. A line that is damaged is none. Acceptances are in the store.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from toolmd._load.files import DefinitionKind
from toolmd._store import is_postgres
from toolmd._store.store import Store
from toolmd._types.pending_change import ChangeKey, StoredChange
from toolmd.config import state_folder
from toolmd.config.state_files import EmptiedError, is_there, locked, replace_whole

FOLDER = "live"
"""Below the state folder; of its own, so that it can be watched without what calls write."""
FILE = "definitions.live"
LOCK = "definitions.lock"
_HEAD = b"toolmd-live 1\n"
"""The first line, so that a file without any definition is not an empty one."""

Version = tuple[int, int, int]
"""Of the file: its inode, its size in bytes and the time of its last change."""
_NONE: Version = (0, 0, 0)
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


class Known(NamedTuple):
    """What was live at one moment, by name."""

    rows: Mapping[str, LastLive]
    version: Version | None
    """Of the file; None where it can't be used."""


class Baseline:
    """The rows of a project; where the file can't be used, this process alone remembers."""

    def __init__(self, state: Path) -> None:
        self.folder = state / FOLDER
        self._state = state
        self.file = self.folder / FILE
        self._own: dict[str, LastLive] = {}
        self._known = Known({}, _NONE)
        self.problem = ""
        """Why the file can't be used, or what it lost; empty where all is well."""

    def load(self) -> Known:
        """Return what was live last; what the file has lost, this process still knows.

        Raises EmptiedError for a file without bytes where this process knows nothing yet.
        """
        self.problem = ""
        try:
            version = self._version()
            if version != self._known.version:
                self._known = Known(self._read(), version)
        except OSError as error:
            if isinstance(error, EmptiedError) and not self._own:
                raise
            self.problem = self._about(error)
            return Known(dict(self._own), None)
        return self._known._replace(rows={**self._own, **self._known.rows})

    def save(self, known: Known, live: Mapping[str, LastLive], forget: Iterable[str] = ()) -> bool:
        """Remember what is live now; False where somebody else wrote since `known` was loaded."""
        rows, gone = {**known.rows, **live}, {*forget}
        rows = {name: row for name, row in rows.items() if name not in gone}
        if rows != known.rows and known.version is not None:
            try:
                if not self._write(known.version, rows):
                    return False
            except OSError as error:
                self.problem = self._about(error)
        self._own = {**self._own, **live}
        for name in gone:
            self._own.pop(name, None)
        return True

    def accept(self, row: LastLive) -> None:
        """Accept a file's content as live from now on, in every process of the project."""
        while not self.save(self.load(), {row.name: row}):
            pass

    def _about(self, error: OSError) -> str:
        return f"{self.file}: {error.strerror}" if error.strerror else str(error)

    def _version(self) -> Version:
        if not is_there(self.file):
            return _NONE
        status = self.file.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _read(self) -> dict[str, LastLive]:
        rows = {}
        data = self.file.read_bytes() if is_there(self.file) else b""
        for line in data.removeprefix(_HEAD).split(b"\n"):
            if line:
                try:
                    row = _row(line)
                    rows[row.name] = row
                except (ValueError, LookupError):
                    self.problem = f"{self.file}: it has damaged lines"
        return rows

    def _write(self, version: Version, rows: Mapping[str, LastLive]) -> bool:
        state_folder(self._state)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with locked(self.folder / LOCK):
            if self._version() != version:
                return False
            replace_whole(self.file, b"".join([_HEAD, *map(_line, rows.values())]))
            self._known = Known(rows, self._version())
        return True


def _row(line: bytes) -> LastLive:
    check, _, rest = line.partition(b" ")
    if int(check, 16) != crc32(rest):
        raise ValueError("damaged")
    name, kind, digest, taken, path, spec = rest.split(b"\t", 5)
    # Without an escape, JSON text is what stands between its quotes.
    told = json.loads(path) if b"\\" in path else path[1:-1].decode()
    return LastLive(name.decode(), _KINDS[kind], told, digest.decode(), spec, int(taken))


def _line(row: LastLive) -> bytes:
    # JSON writes tabs and line ends as escapes; the rest is words.
    words = (row.name, row.kind, row.digest, str(row.taken), json.dumps(row.path))
    rest = "\t".join(words).encode() + b"\t" + row.spec
    return b"%08x %b\n" % (crc32(rest), rest)


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
