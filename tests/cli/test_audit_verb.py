"""`audit`: the decision records as text and JSON, and the first bad one."""

import json
import re
import sqlite3

import pytest


@pytest.fixture
def recorded(shop):
    """A shop in which three calls were decided."""
    shop("call", "sell_flowers", "kind=rose", "number=2", "--user", "ana")
    shop("call", "sell_flowers", "kind=rose", "number=two", "--user", "ben")
    shop("handle", stdin='[TOOL_CALL:{"id":"c1","tool":"sell_vases","parameters":{}}]')
    return shop


def store(shop):
    return sqlite3.connect(shop.folder / ".toolmd" / "audit.sqlite3")


def test_the_records_are_a_table(recorded, as_golden):
    typed = recorded("audit")
    as_golden(
        re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "AT-SOME-DAY-AT-TIME", typed.out), "audit.txt"
    )
    assert (typed.err, typed.code) == ("", 0)


def test_the_records_as_json_contain_every_field(recorded):
    records = json.loads(recorded("audit", "--json").out)
    assert [(r["number"], r["decision"], r["tool"]) for r in records] == [
        (1, "run", "sell_flowers"),
        (2, "deny", "sell_flowers"),
        (3, "deny", "sell_vases"),
    ]
    assert records[0]["arguments"] == {"kind": "rose", "number": 2}
    assert records[1]["faults"] == [["wrong_type", "number"]]
    assert len({r["hash"] for r in records}) == 3


def test_valid_records_are_reported_as_unchanged(recorded):
    typed = recorded("audit", "--verify")
    assert typed.err == "3 records: all unchanged.\n"
    assert (typed.out, typed.code) == ("", 0)
    shown = json.loads(recorded("audit", "--verify", "--json").out)
    assert shown == {"sound": True, "records": 3, "first_bad": None}


def test_the_first_bad_record_is_named(recorded):
    with store(recorded) as kept:
        kept.executescript(
            "DROP TRIGGER never_changed;"
            "UPDATE decision SET record = replace(record, 'ben', 'ana') WHERE number = 2"
        )
    kept.close()
    typed = recorded("audit", "--verify")
    assert "record 2" in typed.err
    assert "help: " in typed.err
    assert typed.code == 1
    shown = recorded("audit", "--verify", "--json")
    assert json.loads(shown.out) == {"sound": False, "records": 3, "first_bad": 2}
    assert shown.code == 1


def test_missing_newest_records_are_reported(recorded):
    with store(recorded) as kept:
        kept.executescript("DROP TRIGGER never_removed; DELETE FROM decision WHERE number = 3")
    kept.close()
    typed = recorded("audit", "--verify")
    assert "the newest records are missing, from 3 on" in typed.err
    assert "audit.newest" in typed.err
    assert typed.code == 1
    shown = recorded("audit", "--verify", "--json")
    assert json.loads(shown.out) == {"sound": False, "records": 2, "first_bad": 3}


def test_a_removed_audit_is_reported(recorded):
    for file in (recorded.folder / ".toolmd").glob("audit.sqlite3*"):
        file.unlink()
    typed = recorded("audit", "--verify")
    assert "from 1 on" in typed.err
    assert typed.code == 1


def test_a_project_without_records_says_so_and_makes_none(shop):
    assert shop("audit").err == "No decision has been recorded yet.\n"
    assert shop("audit", "--json").out == "[]\n"
    assert shop("audit", "--verify").code == 0
    assert not (shop.folder / ".toolmd" / "audit.sqlite3").exists()


def test_a_file_that_is_not_an_audit_is_a_finding(shop):
    shop.write(".toolmd/audit.sqlite3", "not a database, whatever its name says")
    for words in (("audit",), ("audit", "--verify")):
        typed = shop(*words)
        assert typed.code == 1
        assert "audit.sqlite3" in typed.err


def test_an_audit_that_is_off_is_reported(recorded):
    recorded.write("toolmd.toml", 'tools = ["tools_md"]\nskills = ["skills_md"]\naudit = false\n')
    typed = recorded("audit")
    assert "the audit is off" in typed.err
    assert len(typed.out.splitlines()) == 4
