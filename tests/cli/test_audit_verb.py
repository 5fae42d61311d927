"""`audit`: the decision records as text and JSON, and the first bad one."""

import json
import re

import pytest


@pytest.fixture
def recorded(shop, monkeypatch):
    """A shop in which three calls were decided."""
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    shop("call", "sell_flowers", "kind=rose", "number=2", "--user", "ana")
    shop("call", "sell_flowers", "kind=rose", "number=two", "--user", "ben")
    shop("handle", stdin='[TOOL_CALL:{"id":"c1","tool":"sell_vases","parameters":{}}]')
    return shop


def files(shop):
    return sorted((shop.folder / ".toolmd" / "audit").glob("*.jsonl"))


def test_the_records_are_a_table(recorded, as_golden):
    typed = recorded("audit")
    as_golden(
        re.sub(
            r"\d{8}T\d{6}-[0-9a-f]{8}",
            "NAME-OF-THE-FILE-WITH-IT",
            re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "AT-SOME-DAY-AT-TIME", typed.out),
        ),
        "audit.txt",
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
    assert records[1]["faults"] == [["invalid_arguments", "number"]]
    assert len({r["hash"] for r in records}) == 3


def test_valid_records_are_reported_as_unchanged(recorded):
    typed = recorded("audit", "--verify")
    assert typed.err == "3 records: all unchanged.\n"
    assert (typed.out, typed.code) == ("", 0)
    shown = json.loads(recorded("audit", "--verify", "--json").out)
    assert shown == {
        "sound": True, "records": 3, "file": None, "first_bad": None, "problem": "",
    }  # fmt: skip


def test_the_first_bad_record_is_named(recorded):
    file = files(recorded)[0]
    file.chmod(0o600)
    file.write_bytes(file.read_bytes().replace(b"ben", b"ana"))
    typed = recorded("audit", "--verify")
    assert f"record {file.stem}:2: it was changed" in typed.err
    assert "help: " in typed.err
    assert typed.code == 1
    shown = recorded("audit", "--verify", "--json")
    found = json.loads(shown.out)
    assert (found["sound"], found["records"], found["first_bad"]) == (False, 3, 2)
    assert found["file"] == file.stem
    assert shown.code == 1


def test_missing_newest_records_are_reported(recorded):
    file = files(recorded)[0]
    file.chmod(0o600)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    typed = recorded("audit", "--verify")
    assert f"record {file.stem}:3: the newest records of the file are missing" in typed.err
    assert typed.code == 1


def test_a_removed_audit_is_reported(recorded):
    for file in files(recorded):
        file.unlink()
    typed = recorded("audit", "--verify")
    assert "the file is missing" in typed.err
    assert typed.code == 1


def test_the_records_are_shown_in_pages_and_by_filter(recorded):
    typed = recorded("audit", "--json", "--limit", "2")
    page = json.loads(typed.out)
    assert [one["number"] for one in page] == [2, 3]
    assert f"`--before {page[0]['id']}` shows earlier ones" in typed.err
    earlier = json.loads(recorded("audit", "--json", "--before", page[0]["id"]).out)
    assert [one["number"] for one in earlier] == [1]
    for words, numbers in {
        ("--user", "ben"): [2],
        ("--outcome", "deny"): [2, 3],
        ("--outcome", "denied"): [2, 3],
        ("--outcome", "failed"): [1],
        ("--tool", "sell_flowers", "--outcome", "run"): [1],
        ("--since", "1h ago"): [1, 2, 3],
        ("--until", "2020-01-01"): [],
    }.items():
        found = json.loads(recorded("audit", "--json", *words).out)
        assert [one["number"] for one in found] == numbers


def test_all_records_are_printed_as_lines_of_json(recorded):
    lines = recorded("audit", "--jsonl").out.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3]


def test_a_time_and_an_id_that_cannot_be_read_are_errors(recorded):
    odd = recorded("audit", "--since", "yesterday")
    assert odd.code == 2
    assert "--since can't be read" in odd.err
    unknown = recorded("audit", "--before", "nothing:1")
    assert unknown.code == 2
    assert "before must be the id of a decision record" in unknown.err


def test_a_project_without_records_says_so_and_makes_none(shop):
    assert shop("audit").err == "No decision has been recorded yet.\n"
    assert shop("audit", "--json").out == "[]\n"
    assert shop("audit", "--verify").code == 0
    assert not (shop.folder / ".toolmd" / "audit").exists()


def test_a_file_that_is_not_an_audit_is_a_finding(shop):
    shop.write(".toolmd/audit/20260101T000000-00000000.jsonl", "not a record\n")
    for words in (("audit",), ("audit", "--verify")):
        typed = shop(*words)
        assert typed.code == 1
        assert "20260101T000000-00000000" in typed.err


def test_an_audit_that_is_off_is_reported(recorded):
    recorded.write("toolmd.toml", 'tools = ["tools_md"]\nskills = ["skills_md"]\naudit = false\n')
    typed = recorded("audit")
    assert "the audit is off" in typed.err
    assert len(typed.out.splitlines()) == 4
