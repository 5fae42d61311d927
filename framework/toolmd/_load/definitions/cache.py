"""Cache parsed specs by content hash; damaged, foreign or old entries are parsed again."""

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from toolmd.config import state_folder

FORMAT = 2
MAX_SIZE = 256 * 1024 * 1024
"""In bytes; a larger file is not ours."""
INDEX = "specs.index.json"
PAYLOAD = "specs.payload.json"


NONSENSE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading raises where the JSON holds and is not what was written."""


# There are as many entries as files: made in order, without naming their fields.
_make = tuple.__new__


class CacheEntry(NamedTuple):
    """What was read of one definition: its JSON stays encoded until someone looks."""

    digest: str
    """Hex sha256 of the file's bytes."""
    name: str
    """Empty where the file gave no spec."""
    spec: bytes
    """The spec as JSON; empty where there is none."""
    requires: tuple[str, ...] = ()
    """The tools and skills that a skill names."""
    diagnostics: tuple[Sequence[Any], ...] = ()
    """The fields of each, as JSON keeps them."""


@dataclass(slots=True, eq=False, repr=False)
class Cache:
    """The entries of one project by path, and the verdicts on skills by their grounds.

    One index and one payload, each checked by its sha256, in a folder that only the user can write.
    `fingerprint` names the parser that wrote them; another's entries are not used.
    """

    folder: Path
    fingerprint: str
    entries: Mapping[str, CacheEntry] = field(default_factory=dict)
    checks: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    unsaved: int = 0
    """How many entries the files lack."""

    @classmethod
    def load(cls, folder: Path, fingerprint: str) -> "Cache":
        """Load the cache in `folder`; return an empty one where no trusted cache exists."""
        cache = cls(folder, fingerprint)
        # Damage can raise any error, and each means the same: parse again.
        with contextlib.suppress(OSError, *NONSENSE):
            if _private(folder):
                cache.entries, cache.checks = _load(folder, fingerprint)
        return cache

    def save(self, entries: Mapping[str, CacheEntry], checks: Mapping[str, Any]) -> None:
        """Write these entries in place of all others; where it can't be written, leave it."""
        payload = b"".join(entry.spec for entry in entries.values())
        index: dict[str, Any] = {}
        start = 0
        for path, entry in entries.items():
            end = start + len(entry.spec)
            index[path] = [
                entry.digest,
                entry.name,
                start,
                end,
                entry.requires,
                entry.diagnostics,
            ]
            start = end
        head = {
            "format": FORMAT,
            "parser": self.fingerprint,
            "payload": digest(payload),
            "entries": index,
            "checks": checks,
        }
        with contextlib.suppress(OSError, ValueError):
            body = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
            state_folder(self.folder)
            if _private(self.folder):
                _write(self.folder / PAYLOAD, payload)
                _write(self.folder / INDEX, digest(body).encode() + b"\n" + body)


def digest(data: bytes) -> str:
    """Return the hex sha256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def _load(folder: Path, fingerprint: str) -> tuple[dict[str, CacheEntry], dict[str, Any]]:
    if not (head := _head(folder / INDEX, fingerprint)):
        return {}, {}
    payload = _read(folder / PAYLOAD)
    if digest(payload) != head["payload"]:
        raise ValueError("damaged payload")
    entries = {
        path: _make(
            CacheEntry, (kept, name, payload[start:end], tuple(requires), tuple(diagnostics))
        )
        for path, (kept, name, start, end, requires, diagnostics) in head["entries"].items()
    }
    return entries, dict(head["checks"])


def _head(file: Path, fingerprint: str) -> dict[str, Any]:
    """Return the JSON of a file; empty where another parser wrote it.

    Raises OSError, or one of NONSENSE where the file is damaged.
    """
    said, _, body = _read(file).partition(b"\n")
    if said != digest(body).encode():
        raise ValueError("damaged")
    head: dict[str, Any] = from_json(body)
    return head if head["format"] == FORMAT and head["parser"] == fingerprint else {}


def _read(file: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(file, flags)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SIZE:
            raise ValueError("not a cache file")
        return opened.read()


def _private(folder: Path) -> bool:
    """Return whether only this user can write into the folder; else its words are anyone's."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _write(file: Path, data: bytes) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        draft.replace(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
