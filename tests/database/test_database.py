"""A tool's SQLite file: threads, migrations, and access by its owner only."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from toolmd import ConfigError
from toolmd.database import Database

FIRST = ("CREATE TABLE visit (guest TEXT NOT NULL) STRICT",)
SECOND = ("ALTER TABLE visit ADD COLUMN day TEXT", "CREATE INDEX visit_day ON visit (day)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "visits.sqlite3"


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        found: int = db.execute("PRAGMA user_version").fetchone()[0]
        return found


def test_a_file_is_made_with_its_folder_for_its_owners_eyes(path: Path) -> None:
    database = Database(path, [FIRST])
    with database.writing() as db:
        db.execute("INSERT INTO visit VALUES ('Ana')")
    modes = [file.stat().st_mode & 0o077 for file in (path, *path.parent.glob("*.sqlite3-*"))]
    assert modes == [0] * 3, "the file, its log and its index"
    assert path.parent.stat().st_mode & 0o077 == 0
    database.close()


def test_an_older_file_is_brought_up_to_date_and_keeps_its_rows(path: Path) -> None:
    old = Database(path, [FIRST])
    with old.writing() as db:
        db.execute("INSERT INTO visit VALUES ('Ana')")
    old.close()
    database = Database(path, [FIRST, SECOND])
    with database.reading() as db:
        row = db.execute("SELECT guest, day FROM visit").fetchone()
    assert (row["guest"], row["day"]) == ("Ana", None)
    database.close()
    assert version(path) == 2


def test_a_migration_may_be_a_script_with_triggers_and_comments(path: Path) -> None:
    script = """-- Guests; each one once.
    CREATE TABLE visit (guest TEXT NOT NULL) STRICT;
    CREATE TRIGGER kept BEFORE DELETE ON visit
        BEGIN SELECT RAISE(ABORT, 'a visit stays; always'); END;
    INSERT INTO visit VALUES ('Ana; Ben');
    """
    database = Database(path, [script, SECOND])
    with database.reading() as db:
        assert db.execute("SELECT guest FROM visit").fetchone()["guest"] == "Ana; Ben"
    with pytest.raises(sqlite3.IntegrityError, match="stays"), database.writing() as db:
        db.execute("DELETE FROM visit")
    database.close()
    with pytest.raises(sqlite3.OperationalError):
        Database(path.with_name("second"), ["CREATE TABLE a (b);\nCREATE nonsense"])
    assert version(path.with_name("second")) == 0


def test_an_update_that_fails_halfway_leaves_the_file_as_it_was(path: Path) -> None:
    Database(path, [FIRST]).close()
    with pytest.raises(sqlite3.OperationalError):
        Database(path, [FIRST, (SECOND[0], "CREATE nonsense")])
    assert version(path) == 1
    Database(path, [FIRST, SECOND]).close()


def test_a_file_of_a_later_version_raises_an_error_and_is_unchanged(path: Path) -> None:
    Database(path, [FIRST, SECOND]).close()
    with pytest.raises(ConfigError, match=r"visits\.sqlite3 is of version 2, later than"):
        Database(path, [FIRST])
    assert version(path) == 2


def test_an_exception_undoes_the_whole_transaction(path: Path) -> None:
    database = Database(path, [FIRST])
    with pytest.raises(sqlite3.IntegrityError), database.writing() as db:
        db.execute("INSERT INTO visit VALUES ('Ana')").execute("INSERT INTO visit VALUES (NULL)")
    with database.reading() as db:
        assert db.execute("SELECT count(*) FROM visit").fetchone()[0] == 0
    database.close()


def test_a_reader_sees_one_state_while_another_writes(path: Path) -> None:
    database = Database(path, [FIRST])
    with database.reading() as reader:
        assert reader.execute("SELECT count(*) FROM visit").fetchone()[0] == 0
        with database.writing() as writer:
            writer.execute("INSERT INTO visit VALUES ('Ana')")
        assert reader.execute("SELECT count(*) FROM visit").fetchone()[0] == 0
    database.close()


def test_writers_on_many_threads_lose_no_update(path: Path) -> None:
    database = Database(
        path, [("CREATE TABLE n (value INTEGER) STRICT", "INSERT INTO n VALUES (0)")]
    )

    def count(_: int) -> None:
        with database.writing() as db:
            value = db.execute("SELECT value FROM n").fetchone()[0]
            db.execute("UPDATE n SET value = ?", (value + 1,))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(100)))
    with database.reading() as db:
        assert db.execute("SELECT value FROM n").fetchone()[0] == 100
    database.close()
