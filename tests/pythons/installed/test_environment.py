"""The environment is the one that was asked for, and the doctor finds all well in it."""

import os
import sqlite3
import sys


def test_python_and_sqlite_are_the_expected_ones() -> None:
    assert ".".join(map(str, sys.version_info[:3])) == os.environ["PYTHONS_PYTHON"]
    assert sqlite3.sqlite_version == os.environ["PYTHONS_SQLITE"]


def test_the_doctor_runs_a_skill_and_finds_nothing_bad(project) -> None:
    signs = project.toolmd("doctor", "--json").json

    assert [sign for sign in signs if sign["state"] == "bad"] == []
    found = {sign["about"]: sign["found"] for sign in signs}
    assert found["sqlite"] == os.environ["PYTHONS_SQLITE"]
    assert found["store"].endswith("store.sqlite3 can be used")
    extras = [sign for sign in signs if sign["about"] in {"extra chat", "extra lsp", "extra mcp"}]
    assert [sign["state"] for sign in extras] == ["ok"] * 3
