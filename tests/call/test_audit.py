"""The audit: one record before each effect, chained, and no call without it."""

import asyncio
import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmark._call.audit import Audit
from toolmark._model.schema import Parameter, Schema
from toolmark._model.settings import Settings
from toolmark._model.tool import Safety

SECRET = Parameter(name="pin", shape=Schema(types=("string",), sensitive=True))


@pytest.fixture
def settings(tmp_path):
    return Settings(root=tmp_path, state=tmp_path)


def test_each_decision_is_recorded_before_its_effect(harness, tool, settings):
    seen = []

    async def act(pin=""):
        seen.extend(d.record["decision"] for d in door.door.audit.decisions())
        return {}

    door = harness(tool("act", act, SECRET), settings=settings, clock=lambda: 0.0)
    door.call("act", {"pin": "hunter2"}, user="u1", call_id="c1", confidence=0.9)
    door.call("act", {"nip": "hunter2"})
    door.call("unknown")
    door.call("act", dry_run=True)
    assert seen == ["run"]
    records = [d.record for d in door.door.audit.decisions()]
    assert [r["decision"] for r in records] == ["run", "deny", "deny"]
    assert records[0] | {"spec": "", "implementation": ""} == {
        "at": "1970-01-01T00:00:00+00:00", "decision": "run", "tool": "act", "call": "c1",
        "user": "u1", "confidence": 0.9, "arguments": {"pin": "(hidden)"},
        "spec": "", "implementation": "",
    }  # fmt: skip
    assert (records[1]["code"], records[1]["faults"]) == (
        "invalid_arguments", [["unknown_argument", "nip"]],
    )  # fmt: skip
    assert "hunter2" not in json.dumps(records)
    assert door.door.audit.verify() is None


def test_held_calls_and_what_became_of_them_are_recorded(harness, tool, settings):
    async def act(pin=""):
        return {}

    door = harness(tool("act", act, SECRET, safety=Safety(requires_confirmation=True)),
                   settings=settings).door  # fmt: skip

    async def main():
        for decide in (door.confirm, door.reject):
            held = await door.call("act", {"pin": "hunter2"})
            done = decide(held.confirmation.id)
            await done if asyncio.iscoroutine(done) else done

    asyncio.run(main())
    decisions = [d.record["decision"] for d in door.audit.decisions()]
    assert decisions == ["confirm", "run", "confirm", "deny"]


def test_an_audit_that_cannot_be_written_refuses_the_call(harness, tool, tmp_path):
    ran = []

    async def act():
        ran.append(1)

    (tmp_path / "audit.sqlite3").mkdir()
    door = harness(tool("act", act), settings=Settings(root=tmp_path, state=tmp_path))
    for _ in range(3):
        result = door.call("act")
        assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    assert ran == []


def test_records_can_neither_be_changed_nor_removed(tmp_path):
    audit = Audit(tmp_path / "audit.sqlite3")
    audit.append({"a": 1})
    store = sqlite3.connect(tmp_path / "audit.sqlite3")
    for statement in ("UPDATE decision SET record = ''", "DELETE FROM decision"):
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            store.execute(statement)
    store.close()
    audit.close()


TAMPERINGS = [
    "UPDATE decision SET record = replace(record, 'run', 'deny') WHERE number = 2",
    "UPDATE decision SET hash = previous WHERE number = 2",
    "DELETE FROM decision WHERE number = 2",
    "UPDATE decision SET number = 9 WHERE number = 2",
    "INSERT INTO decision SELECT 6, record, previous, hash FROM decision WHERE number = 2",
]


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_what_was_tampered_with_is_found(tmp_path, tampering):
    audit = Audit(tmp_path / "audit.sqlite3")
    for number in range(5):
        audit.append({"decision": "run", "number": number})
    assert audit.verify() is None
    store = sqlite3.connect(tmp_path / "audit.sqlite3")
    store.executescript("DROP TRIGGER never_changed; DROP TRIGGER never_removed;" + tampering)
    store.close()
    assert audit.verify() == (6 if tampering.startswith("INSERT") else 2)
    audit.close()


def test_what_was_cut_off_at_the_end_shows_in_the_count_alone(tmp_path):
    audit = Audit(tmp_path / "audit.sqlite3")
    for number in range(5):
        audit.append({"number": number})
    *_, last = audit.decisions()
    store = sqlite3.connect(tmp_path / "audit.sqlite3")
    store.executescript("DROP TRIGGER never_removed; DELETE FROM decision WHERE number = 5")
    store.close()
    assert audit.verify() is None
    assert audit.count() == 4
    assert last.hash not in {decision.hash for decision in audit.decisions()}
    audit.close()


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5))))
def test_what_is_recorded_is_read_back_in_order(tmp_path_factory, records):
    audit = Audit(tmp_path_factory.mktemp("audit") / "audit.sqlite3")
    for record in records:
        audit.append(record)
    assert [d.record for d in audit.decisions()] == records
    assert audit.verify() is None
    audit.close()
