"""State files are created whole; an empty one was emptied and is an error."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests import warm_python

from toolmd.config.sqlite import create_store
from toolmd.config.state_files import LOCK, EmptiedError, create_file
from toolmd.database import Database
from toolmd.errors import UnreachableError

CREATE = """
import sqlite3, sys
from pathlib import Path
from toolmd.config.sqlite import create_store
path = Path(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
create_store(path)
assert path.stat().st_size
with sqlite3.connect(path, timeout=60) as store:
    store.execute("CREATE TABLE IF NOT EXISTS t (who INTEGER)")
    store.execute("INSERT INTO t VALUES (?)", (int(sys.argv[2]),))
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from toolmd.config.sqlite import create_store
def kill(event, arguments):
    if event == "os.rename":
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill)
create_store(Path(sys.argv[1]))
"""


def test_a_new_store_has_bytes_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    store = tmp_path / "state" / "a.sqlite3"

    assert create_store(store)
    assert not create_store(store)

    assert store.stat().st_size > 0
    assert store.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in store.parent.iterdir()} == {".gitignore", LOCK, store.name}
    with closing(sqlite3.connect(store)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert opened.execute("PRAGMA user_version").fetchone() == (0,)


def test_a_new_store_needs_no_switch_to_wal_mode_which_two_processes_cannot_do_at_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    create_store(path)

    with closing(sqlite3.connect(path)) as store:
        assert store.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_emptied_store_is_an_error_with_its_path_and_a_remedy(tmp_path: Path) -> None:
    store = tmp_path / "a.sqlite3"
    create_store(store)
    os.truncate(store, 0)

    with pytest.raises(UnreachableError, match=r"a\.sqlite3 was emptied .*: restore it"):
        create_store(store)
    with pytest.raises(EmptiedError):
        Database(store, [])
    with pytest.raises(OSError, match="emptied"):
        create_file(store, b"data")
    assert store.stat().st_size == 0


def test_a_log_of_sqlite_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite3"
    Database(path, [["CREATE TABLE t (a)"]]).close()
    path.with_name("a.sqlite3-wal").touch()

    Database(path, [["CREATE TABLE t (a)"]]).close()

    assert path.stat().st_size > 0


@pytest.mark.process
def test_processes_that_create_one_store_at_once_all_write_into_it(tmp_path: Path) -> None:
    for round_ in range(3):
        store = tmp_path / f"{round_}.sqlite3"
        started = [
            warm_python.Popen(
                [sys.executable, "-c", CREATE, str(store), str(number)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for number in range(4)
        ]
        assert [process.stdout.readline() for process in started] == [b"ready\n"] * 4
        for process in started:
            process.stdin.write(b"\n")
            process.stdin.flush()
        for process in started:
            process.communicate(timeout=60)
        assert [process.returncode for process in started] == [0] * 4
        with closing(sqlite3.connect(store)) as opened:
            found = opened.execute("SELECT who FROM t ORDER BY who").fetchall()
        assert found == [(0,), (1,), (2,), (3,)]


def test_a_crash_before_the_file_has_its_name_leaves_nothing_that_matters(tmp_path: Path) -> None:
    store = tmp_path / "a.sqlite3"
    ended = warm_python.run([sys.executable, "-c", KILLED, str(store)], check=False)
    assert ended.returncode < 0
    assert not store.exists()
    assert (tmp_path / ".a.sqlite3.draft").exists()

    assert create_store(store)

    assert {path.name for path in tmp_path.iterdir()} == {LOCK, store.name}


def test_a_file_that_cannot_be_written_is_named_itself(tmp_path: Path) -> None:
    (tmp_path / ".a.draft").mkdir()

    with pytest.raises(OSError, match="directory") as raised:
        create_file(tmp_path / "a", b"data")

    assert raised.value.filename == str(tmp_path / "a")
