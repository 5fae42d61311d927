"""Where runs are kept: a file that survives a power cut, or Postgres over TCP."""

from pathlib import Path

import pytest
from kept import Kept

from toolmark._run.engine.durable.database import FILE, address
from toolmark.errors import ConfigError


def test_the_file_is_in_wal_with_full_sync_and_for_this_user_only(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.engine.start()
    with kept.engine._database.connect() as connection:
        asked = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]

    assert asked == ["wal", 2, 1, 10_000]
    assert (kept.state / FILE).stat().st_mode & 0o077 == 0


def test_a_unix_socket_is_no_way_to_postgres(tmp_path: Path) -> None:
    for url in ("postgresql:///runs", "postgresql://me@/runs?host=/run/postgresql"):
        with pytest.raises(ConfigError, match="TCP"):
            address(url, tmp_path)
    assert address("postgresql://me@127.0.0.1/runs", tmp_path).startswith("postgresql+psycopg://")
