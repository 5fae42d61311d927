"""A store that can't be used says so in time, and no record goes where nobody finds it."""

import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sample import confirmation, count, counted, uncount
from tests import warm_python

from toolmd._store import STORE_FILE
from toolmd._store.database import VERSION
from toolmd._store.store import Store
from toolmd.config.sqlite import create_store
from toolmd.config.state_files import EmptiedError
from toolmd.errors import ConfigError, UnreachableError

Open = Callable[..., Store]


@contextmanager
def locked(place: str, state: Path, table: str) -> Iterator[None]:
    """Lock the file, or a table of the server, in another program."""
    if place == "sqlite":
        with closing(sqlite3.connect(state / STORE_FILE, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            yield
            other.execute("ROLLBACK")
    else:
        with psycopg.connect(place) as other:
            other.execute(f"LOCK TABLE toolmd.{table}")
            yield


def test_a_locked_store_is_reported_after_a_bounded_wait(
    shared_place: str, open_store: Open, tmp_path: Path
) -> None:
    store = open_store(shared_place, wait_s=0.3)
    assert count(store, "act", "ana", 9)
    with locked(shared_place, tmp_path, "quota_use"):
        began = time.monotonic()
        with pytest.raises(UnreachableError, match="locked by another program for too long"):
            count(store, "act", "ana", 9)
        assert time.monotonic() - began < 5
    assert counted(store, "act", "ana") == 1


def test_a_locked_file_can_be_read(open_store: Open, tmp_path: Path) -> None:
    store = open_store("sqlite")
    count(store, "act", "ana", 9)
    with locked("sqlite", tmp_path, "quota_use"):
        assert counted(store, "act", "ana") == 1


def test_a_file_that_is_locked_before_it_has_tables_is_reported(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store("sqlite", wait_s=0.1)
    create_store(tmp_path / STORE_FILE)
    with locked("sqlite", tmp_path, ""), pytest.raises(UnreachableError, match="locked"):
        uncount(store, "act", "ana")
    assert store.limits.take("act", 1.0) == 0.0


def test_a_closed_store_is_not_opened_again(store: Store) -> None:
    assert store.limits.take("act", 3600.0) == 0.0
    store.close()
    for part in (store.limits, store.crises):
        with pytest.raises(UnreachableError, match="the store is closed"):
            part.take("act", 1.0) if part is store.limits else part.flagged()
    assert store.is_closed


def test_a_store_that_recorded_nothing_creates_nothing(open_store: Open, tmp_path: Path) -> None:
    store = open_store("sqlite")
    assert not store.may_hold_records
    assert not store.holds_results(time.time())
    assert store.database.name == str(tmp_path / STORE_FILE)
    store.close()
    assert [*tmp_path.iterdir()] == []


def test_a_removed_file_is_reported_and_begins_without_records_in_the_next_process(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store("sqlite")
    count(store, "act", "ana", 9)
    for path in tmp_path.glob(f"{STORE_FILE}*"):
        path.unlink()

    for ask in (counted, uncount):
        with pytest.raises(UnreachableError, match="was removed or replaced"):
            ask(store, "act", "ana")
    next_one = open_store("sqlite")
    assert counted(next_one, "act", "ana") == 0
    assert count(next_one, "act", "ana", 9)


def test_a_replaced_file_is_used_after_a_restart_only(open_store: Open, tmp_path: Path) -> None:
    store, file, backup = open_store("sqlite"), tmp_path / STORE_FILE, tmp_path / "backup"
    count(store, "act", "ana", 9)
    with closing(sqlite3.connect(file)) as source:
        source.execute("VACUUM INTO ?", [str(backup)])
    count(store, "act", "ana", 9)
    os.truncate(file, 0)
    for _ in range(2):
        with pytest.raises(EmptiedError, match=r"was emptied .0 bytes."):
            counted(store, "act", "ana")
    for ending in ("-wal", "-shm"):
        file.with_name(f"{STORE_FILE}{ending}").unlink(missing_ok=True)
    shutil.move(backup, file)

    with pytest.raises(UnreachableError, match="was removed or replaced"):
        counted(store, "act", "ana")
    assert counted(open_store("sqlite"), "act", "ana") == 1


def test_a_file_that_is_no_database_is_reported(open_store: Open, tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_bytes(b"no data base" * 400)
    with pytest.raises(UnreachableError, match=r"can't be reached.*toolmd doctor"):
        uncount(open_store("sqlite"), "act", "ana")


def test_a_folder_that_cannot_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store("sqlite", tmp_path / "file" / "below")
    with pytest.raises(UnreachableError, match="can't be written"):
        uncount(store, "act", "ana")


def test_a_full_disk_is_reported_and_loses_nothing(
    open_store: Open, tmp_path: Path, limited_disk: Any
) -> None:
    store = open_store("sqlite")
    count(store, "act", "ana", 999)
    size = (tmp_path / f"{STORE_FILE}-wal").stat().st_size
    large = confirmation("c-1", notes=("x" * 99_000,))
    with limited_disk(size), pytest.raises(UnreachableError, match="can't be reached"):
        store.confirmations.add(large)
    store.confirmations.add(large)
    before = counted(store, "act", "ana")
    assert count(store, "act", "ana", 999)
    assert counted(store, "act", "ana") == before + 1


@pytest.mark.parametrize(("by", "which"), [(1, "a newer"), (-1, "an older")])
def test_records_of_another_release_are_not_touched(
    shared_place: str, open_store: Open, change: Callable[..., int], by: int, which: str
) -> None:
    first = open_store(shared_place)
    count(first, "act", "ana", 9)
    statement = f"PRAGMA user_version = {VERSION + by}"
    if shared_place != "sqlite":
        statement = f"UPDATE store_version SET version = {VERSION + by}"
    change(first, statement)

    with pytest.raises(ConfigError, match=f"stored by {which} release.*version {VERSION + by}"):
        count(open_store(shared_place), "act", "ana", 9)
    change(first, statement.replace(str(VERSION + by), str(VERSION)))
    assert counted(open_store(shared_place), "act", "ana") == 1


def test_tables_from_before_versions_are_of_an_older_release(
    shared_place: str, open_store: Open, tmp_path: Path
) -> None:
    table = "CREATE TABLE toolmd_meta (key TEXT PRIMARY KEY, value TEXT)"
    if shared_place == "sqlite":
        with closing(sqlite3.connect(tmp_path / STORE_FILE)) as other:
            other.execute(table)
    else:
        with psycopg.connect(shared_place) as other:
            other.execute("CREATE SCHEMA toolmd; SET search_path = toolmd;" + table)
    with pytest.raises(ConfigError, match="by an older release"):
        uncount(open_store(shared_place), "act", "ana")


def test_a_process_waits_while_another_creates_the_tables(postgres: str, open_store: Open) -> None:
    store = open_store(postgres, wait_s=0.1)
    with psycopg.connect(postgres) as other:
        other.execute("SELECT pg_advisory_xact_lock(7461706)")
        with pytest.raises(UnreachableError, match="locked"):
            store.limits.take("act", 1.0)
    assert store.limits.take("act", 1.0) == 0.0


def test_a_session_that_the_server_ended_is_replaced(postgres: str, open_store: Open) -> None:
    store = open_store(postgres)
    count(store, "act", "ana", 9)
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert count(store, "act", "ana", 9)
    assert counted(store, "act", "ana") == 2


FORK = """
import os, sys
from pathlib import Path
from toolmd._store.store import Store
from toolmd.errors import UnreachableError

store = Store(sys.argv[2], Path(sys.argv[1]))
assert store.limits.take("act", 1.0) == 0.0
if not os.fork():
    try:
        store.limits.take("act", 1.0)
    except UnreachableError as error:
        assert "this process was forked" in str(error)
        os._exit(7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
print(store.limits.take("act", 3600.0) > 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no process")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_forked_process_does_not_use_the_store_of_its_parent(kind: str, tmp_path: Path) -> None:
    done = warm_python.run(
        [sys.executable, "-c", FORK, str(tmp_path), kind],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("True\n", "")
