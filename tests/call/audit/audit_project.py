"""A state folder whose audit tests write, read and change."""

import datetime as dt
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

from toolmd._call.audit.log import AuditLog
from toolmd._call.audit.reader import ALL, AuditReader, Wanted
from toolmd._store import STORE_FILE
from toolmd._store.store import Store
from toolmd._types.settings import Settings


def record(number: int, **more: object) -> str:
    at = dt.datetime.now(dt.UTC).isoformat()
    return json.dumps({"at": at, "decision": "run", "n": number, **more})


def put(log: AuditLog, text: str) -> None:
    """Append a record as a call does."""
    if not log.append(text):
        log.open()
        assert log.append(text)


class Project:
    """A state folder with its store, as each process opens it."""

    def __init__(self, root: Path) -> None:
        self.settings = Settings(root=root, state=root)
        self.folder = root / "audit"
        self.reader = AuditReader(self.settings)
        self.stores: list[Store] = []

    def log(self, **options: object) -> AuditLog:
        store = Store("sqlite", self.settings.state)
        self.stores.append(store)
        return AuditLog(self.folder, lambda: store.audit_heads, **options)

    def append(self, *numbers: int, **options: object) -> None:
        log = self.log(**options)
        for number in numbers:
            put(log, record(number))
        log.close()

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"))

    def numbers(self, wanted: Wanted = ALL) -> list[int]:
        return [one.record["n"] for one in self.reader.records(wanted)]

    def rewrite(self, change: Callable[[list[bytes]], list[bytes]], file: int = 0) -> None:
        path = self.files()[file]
        path.chmod(0o600)
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    def age(self, file: int) -> None:
        """Date a file's last change a minute after its beginning, as of a long-lived writer."""
        os.utime(self.files()[file], (0, time.time() + 60))

    def remove_store(self) -> None:
        for path in self.settings.state.glob(f"{STORE_FILE}*"):
            path.unlink()
