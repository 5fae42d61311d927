"""A store that can't be used says so in time, and no record goes where nobody finds it."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sample import confirmation

from toolmd._store import STORE_FILE
from toolmd._store.schema import VERSION
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
    assert store.limits.count("act", "ana", 9)
    with locked(shared_place, tmp_path, "call_count"):
        began = time.monotonic()
        with pytest.raises(UnreachableError, match="locked by another program for too long"):
            store.limits.count("act", "ana", 9)
        assert time.monotonic() - began < 5
    assert store.limits.counted("act", "ana") == 1


def test_a_locked_file_can_be_read(open_store: Open, tmp_path: Path) -> None:
    store = open_store("sqlite")
    store.limits.count("act", "ana", 9)
    with locked("sqlite", tmp_path, "call_count"):
        assert store.limits.counted("act", "ana") == 1


def test_a_file_that_is_locked_before_it_has_tables_is_reported(
    open_store: Open, tmp_path: Path
) -> None:
    store = open_store("sqlite", wait_s=0.1)
    create_store(tmp_path / STORE_FILE)
    with locked("sqlite", tmp_path, ""), pytest.raises(UnreachableError, match="locked"):
        store.limits.open()
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


def test_a_removed_file_begins_anew(open_store: Open, tmp_path: Path) -> None:
    store = open_store("sqlite")
    store.limits.count("act", "ana", 9)
    for path in tmp_path.glob(f"{STORE_FILE}*"):
        path.unlink()

    assert store.limits.counted("act", "ana") == 0
    store.limits.count("act", "ana", 9)
    assert open_store("sqlite").limits.counted("act", "ana") == 1


def test_a_replaced_file_is_the_store_from_then_on(open_store: Open, tmp_path: Path) -> None:
    store, backup = open_store("sqlite"), tmp_path / "backup"
    store.limits.count("act", "ana", 9)
    with closing(sqlite3.connect(tmp_path / STORE_FILE)) as source:
        source.execute("VACUUM INTO ?", [str(backup)])
    store.limits.count("act", "ana", 9)
    for ending in ("-wal", "-shm"):
        (tmp_path / f"{STORE_FILE}{ending}").unlink(missing_ok=True)
    backup.replace(tmp_path / STORE_FILE)

    assert store.limits.counted("act", "ana") == 1
    store.limits.count("act", "ana", 9)
    assert open_store("sqlite").limits.counted("act", "ana") == 2


def test_an_emptied_file_is_reported_and_used_again_once_it_is_restored(
    open_store: Open, tmp_path: Path
) -> None:
    store, file = open_store("sqlite"), tmp_path / STORE_FILE
    store.confirmations.add(one := confirmation("c-1"))
    with closing(sqlite3.connect(file)) as source:
        source.execute("VACUUM INTO ?", [str(tmp_path / "backup")])
    os.truncate(file, 0)
    for _ in range(2):
        with pytest.raises(EmptiedError, match=r"was emptied .0 bytes."):
            store.confirmations.get("c-1", one.created)
    shutil.move(tmp_path / "backup", file)

    assert store.confirmations.get("c-1", one.created).state == "pending"


def test_a_file_that_is_no_database_is_reported(open_store: Open, tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_bytes(b"no data base" * 400)
    with pytest.raises(UnreachableError, match=r"can't be reached.*toolmd doctor"):
        open_store("sqlite").limits.open()


def test_a_folder_that_cannot_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store("sqlite", tmp_path / "file" / "below")
    with pytest.raises(UnreachableError, match="can't be written"):
        store.limits.open()


def test_a_full_disk_is_reported_and_loses_nothing(
    open_store: Open, tmp_path: Path, limited_disk: Any
) -> None:
    store = open_store("sqlite")
    store.limits.count("act", "ana", 999)
    size = (tmp_path / f"{STORE_FILE}-wal").stat().st_size
    large = confirmation("c-1", notes=("x" * 99_000,))
    with limited_disk(size), pytest.raises(UnreachableError, match="can't be reached"):
        store.confirmations.add(large)
    store.confirmations.add(large)
    before = store.limits.counted("act", "ana")
    assert store.limits.count("act", "ana", 999)
    assert store.limits.counted("act", "ana") == before + 1


@pytest.mark.parametrize(("by", "which"), [(1, "a newer"), (-1, "an older")])
def test_records_of_another_release_are_not_touched(
    shared_place: str, open_store: Open, change: Callable[..., int], by: int, which: str
) -> None:
    first = open_store(shared_place)
    first.limits.count("act", "ana", 9)
    statement = f"PRAGMA user_version = {VERSION + by}"
    if shared_place != "sqlite":
        statement = f"UPDATE store_version SET version = {VERSION + by}"
    change(first, statement)

    with pytest.raises(ConfigError, match=f"stored by {which} release.*version {VERSION + by}"):
        open_store(shared_place).limits.count("act", "ana", 9)
    change(first, statement.replace(str(VERSION + by), str(VERSION)))
    assert open_store(shared_place).limits.counted("act", "ana") == 1


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
        open_store(shared_place).limits.open()


def test_a_process_waits_while_another_creates_the_tables(postgres: str, open_store: Open) -> None:
    store = open_store(postgres, wait_s=0.1)
    with psycopg.connect(postgres) as other:
        other.execute("SELECT pg_advisory_xact_lock(7461706)")
        with pytest.raises(UnreachableError, match="locked"):
            store.limits.take("act", 1.0)
    assert store.limits.take("act", 1.0) == 0.0


def test_a_session_that_the_server_ended_is_replaced(postgres: str, open_store: Open) -> None:
    store = open_store(postgres)
    store.limits.count("act", "ana", 9)
    with psycopg.connect(postgres, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert store.limits.count("act", "ana", 9)
    assert store.limits.counted("act", "ana") == 2


FORK = """
import os, sys, threading
from pathlib import Path
from toolmd._store.store import Store

store = Store(sys.argv[2], Path(sys.argv[1]))
count = lambda: store.limits.count("act", "ana", 999)
count()
# Other threads of the parent are within transactions when it forks.
going = threading.Event()
threads = [threading.Thread(target=lambda: [count() for _ in range(20)]) for _ in range(3)]
for one in threads:
    one.start()
begins, ends = os.pipe(), os.pipe()
if not (child := os.fork()):
    count()
    os.write(begins[1], b"x")
    os.read(ends[0], 1)
    count()
    os._exit(0)
for one in threads:
    one.join()
os.read(begins[0], 1)
count()
store.close()
# The parent's end must not take away what the child still writes to.
os.write(ends[1], b"x")
assert os.waitpid(child, 0)[1] == 0
if store.is_shared:
    print(Store(sys.argv[2], Path(sys.argv[1])).limits.counted("act", "ana"))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no process")
def test_a_forked_process_opens_the_store_for_itself(place: str, tmp_path: Path) -> None:
    # From Python 3.12 on, a fork beside threads is warned of.
    words = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK, str(tmp_path), place]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("" if place == "memory" else "64\n")
