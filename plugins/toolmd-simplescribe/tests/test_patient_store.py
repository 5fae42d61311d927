"""A patient store of another version, and who may read it."""

import sqlite3

import pytest

from toolmd import ConfigError, ToolError
from toolmd_simplescribe.store import FILE, PatientStore


def test_a_store_of_an_earlier_version_says_that_nothing_is_loaded(tmp_path):
    with sqlite3.connect(tmp_path / FILE, isolation_level=None) as db:
        db.execute("CREATE TABLE patient (id TEXT)")
        db.execute("INSERT INTO patient (id) VALUES ('123')")
        db.execute("PRAGMA user_version = 1")
    db.close()
    store = PatientStore(tmp_path)
    with pytest.raises(ToolError, match="No records are loaded"):
        store.chart("123", "123")
    store.close()


def test_a_store_of_a_later_version_is_not_touched(tmp_path):
    with sqlite3.connect(tmp_path / FILE, isolation_level=None) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(ConfigError, match="version 99"):
        PatientStore(tmp_path)


def test_only_the_owner_reads_the_stored_files(records, make):
    records.load(make.note())
    records.index()
    kept = list(records.store.database.path.parent.rglob("*.sqlite3*"))
    assert len(kept) >= 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)
