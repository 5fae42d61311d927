"""The SQLite of this Python, and the oldest one with which the stores of a project work."""

import sys

from toolmd.errors import ConfigError

OLDEST = (3, 37, 0)
"""The first with STRICT tables; what the engine of the runs needs is older: RETURNING, 3.35."""


def check_sqlite(version: tuple[int, ...] | None = None) -> None:
    """Check that SQLite is new enough; `version` is this Python's own where none is given.

    Raises ConfigError, which says what to do.
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
