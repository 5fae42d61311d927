"""Store the Python of runs, by its bytes, for as long as a run may need it."""

import json
import time
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from toolmd._skills.engine.durable.tables import Tables

FRESH_S = 3600.0
"""For how long a stored pin is not written again, in seconds."""
SPARE_S = 24 * FRESH_S
"""For how long an unused pin is kept, since a new run may be about to use it, in seconds."""


class PinnedCode:
    """The pinned Python of a database; blocking, and safe for threads and processes."""

    def __init__(self, engine: sa.Engine, tables: Tables, insert: Any) -> None:
        self._engine = engine
        self._tables = tables
        self._insert = insert

    def keep(self, digest: str, manifest: str, files: Mapping[str, bytes]) -> None:
        """Store a manifest and its files, each by its hex sha256."""
        pin, now = self._tables.pin, time.time()
        with self._engine.connect() as connection:
            kept = connection.execute(sa.select(pin.c.kept).where(pin.c.hash == digest)).scalar()
        if kept is not None and kept > now - FRESH_S:
            return
        rows = [{"hash": name, "data": zlib.compress(data)} for name, data in files.items()]
        row = {"hash": digest, "manifest": manifest, "kept": now}
        insert = self._insert(pin).values(row)
        with self._engine.begin() as connection:
            self._tables.lock_code(connection)
            if rows:
                keep = self._insert(self._tables.code).on_conflict_do_nothing()
                connection.execute(keep, rows)
            connection.execute(
                insert.on_conflict_do_update(index_elements=["hash"], set_={"kept": now})
            )

    def find(self, digest: str) -> tuple[str, Mapping[str, bytes]] | None:
        """Return a manifest and its files, without missing ones."""
        pin, code = self._tables.pin, self._tables.code
        with self._engine.connect() as connection:
            chosen = sa.select(pin.c.manifest).where(pin.c.hash == digest)
            manifest: str | None = connection.execute(chosen).scalar()
            if manifest is None:
                return None
            named = sa.select(code).where(code.c.hash.in_(_files(manifest)))
            rows = connection.execute(named).all()
        return manifest, {row.hash: zlib.decompress(row.data) for row in rows}

    def forget(self, needed: Iterable[str]) -> None:
        """Delete the files that no needed pin names, except recently stored ones."""
        pin, code, before = self._tables.pin, self._tables.code, time.time() - SPARE_S
        with self._engine.begin() as connection:
            self._tables.lock_code(connection)
            gone = sa.delete(pin).where(pin.c.hash.not_in(list(needed)), pin.c.kept < before)
            if not connection.execute(gone).rowcount:
                return
            left = connection.execute(sa.select(pin.c.manifest)).scalars()
            files = {file for manifest in left for file in _files(manifest)}
            connection.execute(sa.delete(code).where(code.c.hash.not_in(files)))


def _files(manifest: str) -> list[str]:
    return [digest for folder in json.loads(manifest)["folders"]
            for digest in folder["files"].values()]  # fmt: skip
