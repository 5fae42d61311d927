"""The SQLite of this Python, the oldest one that works, and the first page of each store."""

import sys
from contextlib import closing
from pathlib import Path

from toolmd.config import state_folder
from toolmd.config.state_files import create_file, is_there
from toolmd.errors import ConfigError

OLDEST = (3, 37, 0)
"""The first with STRICT tables; what the engine of the runs needs is older: RETURNING, 3.35."""


def check_sqlite(version: tuple[int, ...] | None = None) -> None:
    """Check that SQLite is new enough; `version` is this Python's own where none is given.

    Raises ConfigError, whose message says what to do.
    """
    if version is None:
        # Only here: `toolmd --help` opens no store.
        import sqlite3

        version = sqlite3.sqlite_version_info
    if version < OLDEST:
        found, oldest = (".".join(map(str, one)) for one in (version, OLDEST))
        raise ConfigError(
            f"{sys.executable} has SQLite {found}, and Toolmd stores its records with {oldest} or "
            f"later: install Toolmd with another Python, such as one from python.org or of "
            f"`uv python install`"
        )


def create_store(path: Path) -> bool:
    """Create a SQLite file and its folder where there is none; False where it is there already.

    The file appears with its first page, and is never empty after that.

    Raises:
        EmptiedError: the file has no bytes, so its records were cut off.
        OSError: the file can't be written.
        ConfigError: SQLite is too old.
    """
    check_sqlite()
    # No more than a look: closing the file would end the locks that this process has on it.
    if is_there(path):
        return False
    state_folder(path.parent)
    return create_file(path, _first_page(path.parent), leftovers=("-wal", "-shm"))


def _first_page(folder: Path) -> bytes:
    """Return a database in WAL mode without tables, which SQLite writes below the folder."""
    # Only where a store is missing: most commands open those that are there.
    import sqlite3
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix=".new-", dir=folder) as below:
        draft = Path(below) / "store"
        with closing(sqlite3.connect(draft)) as store:
            # Of two processes that set this mode at the same moment, one may fail.
            store.execute("PRAGMA journal_mode = WAL")
            # A new database has no page; a setting that is written and taken back gives it one.
            store.executescript("PRAGMA user_version = 1; PRAGMA user_version = 0")
        return draft.read_bytes()
