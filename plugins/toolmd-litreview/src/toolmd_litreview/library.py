"""Hold a review's files together: the table of candidates, and the extracted fields."""

import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from toolmd import ToolError
from toolmd.config import state_folder
from toolmd.database import Database
from toolmd_litreview.json_lines import line
from toolmd_litreview.paper import Cluster
from toolmd_litreview.schema import MIGRATIONS
from toolmd_litreview.shelf import Shelf

FILE = "litreview.sqlite3"
"""The review's data base, in the project's state folder."""
FOLDER = "pico"
"""The extracted fields, in the project's state folder."""
_SHOWN = 12


class Library:
    """Everybody's candidates in one file, which is made where there is none."""

    def __init__(self, state: Path, clock: Callable[[], datetime]) -> None:
        """`clock` gives the time with its zone."""
        self._state = state_folder(state)
        self.database = Database(self._state / FILE, MIGRATIONS)
        self._clock = clock

    def of(self, user: str | None) -> Shelf:
        """Give the part that is this person's; None is the one at this machine."""
        return Shelf(self.database, self._clock, user or "")

    def cluster(self, user: str | None, cluster_id: str) -> Cluster:
        """Give this person's cluster; raises ToolError, which lists those that there are."""
        clusters = {cluster.cluster_id: cluster for cluster in self.of(user).clusters()}
        if (found := clusters.get(cluster_id)) is not None:
            return found
        if not clusters:
            known = "There is none: search_pubmed draws them over the papers that it finds"
        else:
            known = "There are " + ", ".join(
                f"{c.cluster_id} ({c.label})" for c in list(clusters.values())[:_SHOWN]
            )
        message = f"There is no cluster {cluster_id!r}. {known}."
        raise ToolError(message, code="cluster_not_found")

    def extracted(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Give the fields that were read before, by the key of what they were read from."""
        found = {}
        with self.database.reading() as db:
            for key in keys:
                query = "SELECT fields FROM extraction WHERE key = ?"
                if (row := db.execute(query, (key,)).fetchone()) is not None:
                    found[key] = json.loads(row[0])
        return found

    def keep_extracted(self, fields: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep fields, so that a call that is tried again asks the model for the rest only."""
        rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in fields.items()]
        with self.database.writing() as db:
            db.executemany("INSERT OR REPLACE INTO extraction VALUES (?, ?)", rows)

    def write_lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> str:
        """Write JSON Lines in one go and give the file's path below the state folder.

        `name` is one of our own making; whoever reads the file meets all of it or the last one.
        """
        folder = self._state / FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        making = folder / f".{name}.{secrets.token_hex(4)}"
        with making.open("x", encoding="utf-8", newline="\n") as file:
            making.chmod(0o600)
            file.writelines(line(row) + "\n" for row in rows)
            file.flush()
            os.fsync(file.fileno())
        making.replace(folder / f"{name}.jsonl")
        return f"{FOLDER}/{name}.jsonl"

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()
