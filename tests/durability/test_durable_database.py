"""Where runs are kept: a file that survives a power cut, or Postgres over TCP."""

import os
import sqlite3
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest
from kept import Kept
from postgres_server import database
from run_world import YES
from tests import warm_python

from toolmd._fleet.database import CONNECT_S
from toolmd._store import STORE_FILE
from toolmd.errors import ConfigError, UnreachableError


def start(state: Path, url: str) -> None:
    """Start to execute the runs of a store."""
    kept = Kept(state, url)
    try:
        kept.engine.start()
    finally:
        kept.close()


SECRET = "hush"


@pytest.mark.parametrize(
    ("url", "error", "word"),
    [
        (f"postgresql://me:{SECRET}@127.0.0.1:1/runs", UnreachableError, "can't be reached"),
        (f"postgresql://me:{SECRET}@127.0.0.1:port/runs", ConfigError, "not a Postgres URL"),
        (f"postgres://me@127.0.0.1:1/runs?password={SECRET}", UnreachableError, "can't be reached"),
    ],
)
def test_an_unusable_database_is_reported_at_once_without_its_password(
    tmp_path: Path, url: str, error: type[Exception], word: str
) -> None:
    began = time.monotonic()
    with pytest.raises(error, match=word) as told:
        start(tmp_path, url)

    assert time.monotonic() - began < CONNECT_S
    assert SECRET not in str(told.value)


def test_a_missing_database_is_named(tmp_path: Path, postgres: str) -> None:
    with pytest.raises(UnreachableError, match=r"no_such_thing.*does not exist"):
        start(tmp_path, f"{postgres.rpartition('/')[0]}/no_such_thing")


def test_a_user_without_rights_gets_an_error(tmp_path: Path, server: str) -> None:
    with psycopg.connect(server, autocommit=True) as admin, database(server) as url:
        admin.execute("CREATE ROLE toolmd_guest LOGIN")
        try:
            with pytest.raises(UnreachableError, match="permission denied"):
                start(tmp_path, url.replace("postgres@", "toolmd_guest@"))
        finally:
            admin.execute("DROP ROLE toolmd_guest")


def test_the_command_line_exits_with_5_if_the_runs_are_unreachable(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "toolmd", "runs", "--project", str(tmp_path)]
    url = f"postgresql://me:{SECRET}@127.0.0.1:1/runs"
    environment = {**os.environ, "TOOLMD_STORE": url}
    done = warm_python.run(words, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 5
    assert "postgresql://me:***@127.0.0.1:1/runs" in done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_no_session_waits_or_idles_for_ever(kept: Kept) -> None:
    with kept.database.write() as tx:
        asked = [
            tx.execute(f"SHOW {name}")[0][0]
            for name in ("lock_timeout", "idle_in_transaction_session_timeout")
        ]

    assert asked == ["10s", "5s"]


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_locked_file_is_reported_after_a_bounded_wait(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.run(kept.order())
    write = kept.database.write
    # The test waits no longer than it must.
    monkeypatch.setattr(kept.database, "write", partial(write, wait_s=0.3))
    with closing(sqlite3.connect(kept.state / STORE_FILE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert len(kept.engine.store.views()) == 1
        with pytest.raises(UnreachableError, match="locked by another program"):
            kept.answer(YES)
        other.execute("ROLLBACK")

    assert kept.answer(YES).success
