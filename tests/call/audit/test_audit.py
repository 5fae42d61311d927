"""The audit: one record before each effect, chained, and no call without it."""

import asyncio
import json
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._call.audit.chain import Audit, chained
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import SafetySettings, Settings

SECRET = Parameter(name="pin", shape=Schema(types=("string",), sensitive=True))


@pytest.fixture
def settings(tmp_path):
    return Settings(root=tmp_path, state=tmp_path)


def test_each_decision_is_recorded_before_its_effect(harness, tool, settings):
    seen = []

    async def act(pin=""):
        seen.extend(d.record["decision"] for d in dispatcher.dispatcher.audit.decisions())
        return {}

    dispatcher = harness(tool("act", act, SECRET), settings=settings, clock=lambda: 0.0)
    dispatcher.call("act", {"pin": "hunter2"}, user="u1", call_id="c1", confidence=0.9)
    dispatcher.call("act", {"nip": "hunter2"})
    dispatcher.call("unknown")
    dispatcher.call("act", dry_run=True)
    assert seen == ["run"]
    records = [d.record for d in dispatcher.dispatcher.audit.decisions()]
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
    assert dispatcher.dispatcher.audit.verify() is None


def test_pending_calls_and_their_decisions_are_recorded(harness, tool, settings):
    async def act(pin=""):
        return {}

    dispatcher = harness(tool("act", act, SECRET, safety=Safety(requires_confirmation=True)),
                   settings=settings).dispatcher  # fmt: skip

    async def main():
        for decide in (dispatcher.decisions.confirm, dispatcher.decisions.reject):
            held = await dispatcher.call("act", {"pin": "hunter2"})
            await decide(held.confirmation.id)

    asyncio.run(main())
    decisions = [d.record["decision"] for d in dispatcher.audit.decisions()]
    assert decisions == ["confirm", "run", "confirm", "deny"]


def pending_dispatcher(harness, tool, settings, **safety):
    async def act(number=0):
        return {}

    number = Parameter(name="number", shape=Schema(types=("integer",)))
    return harness(tool("act", act, number, safety=Safety(**safety)), settings=settings).dispatcher


def told(dispatcher, *keys):
    return [tuple(d.record.get(key) for key in keys) for d in dispatcher.audit.decisions()]


def test_a_run_record_names_the_approved_call(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, requires_confirmation=True)
    held = asyncio.run(dispatcher.call("act", {})).confirmation.id
    asyncio.run(dispatcher.decisions.confirm(held))
    asyncio.run(dispatcher.decisions.confirm(held))
    assert told(dispatcher, "decision", "held", "code") == [
        ("confirm", held, "confirmation_required"),
        ("run", held, None),
        ("deny", held, "confirmation_used"),
    ]


@pytest.mark.parametrize("crisis_words", [(), ("suicide",)])
def test_the_record_of_a_review_names_the_review(harness, tool, tmp_path, crisis_words):
    project = Settings(
        root=tmp_path, state=tmp_path, safety=SafetySettings(crisis_words=crisis_words)
    )
    dispatcher = pending_dispatcher(
        harness, tool, project, escalate_when=None if crisis_words else "true"
    )
    asyncio.run(dispatcher.call("act", {}, message="suicide"))
    assert told(dispatcher, "decision", "code") == [("review", "held_for_review")]


def test_the_record_of_a_call_without_approval_names_none(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings)
    asyncio.run(dispatcher.call("act", {}))
    assert told(dispatcher, "decision", "held") == [("run", None)]


def test_a_denial_is_recorded_with_its_reason(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, min_confidence=0.9)
    results = [asyncio.run(dispatcher.call("act", {}, confidence)) for confidence in (0.5, None)]
    results.append(asyncio.run(dispatcher.call("act", {"number": "1"})))
    results.append(asyncio.run(dispatcher.call("nothing", {})))
    reasons = [(result.error.code, result.error.message) for result in results]
    assert told(dispatcher, "code", "reason") == reasons


def test_each_decision_names_its_pending_call(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, requires_confirmation=True)
    first, second = (asyncio.run(dispatcher.call("act", {})).confirmation.id for _ in range(2))
    asyncio.run(dispatcher.decisions.reject(first))
    asyncio.run(dispatcher.decisions.respond(second, "Done by hand."))
    assert told(dispatcher, "decision", "held")[2:] == [("deny", first), ("responded", second)]


def test_an_edited_critical_call_that_asks_again_has_its_own_record(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, sensitivity="critical")
    first = asyncio.run(dispatcher.call("act", {"number": 1})).confirmation.id
    second = asyncio.run(dispatcher.decisions.confirm(first, edit={"number": 2})).confirmation.id
    asyncio.run(dispatcher.decisions.confirm(second))
    assert told(dispatcher, "decision", "held", "instead_of", "arguments") == [
        ("confirm", first, None, {"number": 1}),
        ("confirm", second, first, {"number": 2}),
        ("run", second, None, {"number": 2}),
    ]


def test_a_stale_approval_that_asks_again_has_its_own_record(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, requires_confirmation=True)
    first = asyncio.run(dispatcher.call("act", {"number": 5})).confirmation.id
    changed = pending_dispatcher(harness, tool, settings, escalate_when="number > 4")
    result = asyncio.run(changed.decisions.confirm(first))
    second = result.confirmation.id
    assert (result.outcome, result.error.code) == ("review", "confirmation_stale")
    assert told(changed, "decision", "held", "instead_of", "code")[1:] == [
        ("review", second, first, "confirmation_stale")
    ]


def test_a_new_confirmation_is_recorded_if_the_tool_needs_none_any_more(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, requires_confirmation=True)
    first = asyncio.run(dispatcher.call("act", {"number": 5})).confirmation.id
    changed = pending_dispatcher(harness, tool, settings)
    second = asyncio.run(changed.decisions.confirm(first)).confirmation.id
    assert told(changed, "decision", "held", "instead_of", "code")[1:] == [
        ("confirm", second, first, "confirmation_stale")
    ]


def test_a_new_confirmation_without_a_record_is_denied(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, sensitivity="critical")
    first = asyncio.run(dispatcher.call("act", {"number": 1})).confirmation.id
    store = sqlite3.connect(settings.state / "audit.sqlite3")
    store.executescript("DROP TABLE decision")
    store.close()
    result = asyncio.run(dispatcher.decisions.confirm(first, edit={"number": 2}))
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")


def test_a_call_is_denied_if_the_audit_cannot_be_written(harness, tool, tmp_path):
    ran = []

    async def act():
        ran.append(1)

    (tmp_path / "audit.sqlite3").mkdir()
    dispatcher = harness(tool("act", act), settings=Settings(root=tmp_path, state=tmp_path))
    for _ in range(3):
        result = dispatcher.call("act")
        assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    assert ran == []


def test_records_cannot_be_changed_or_removed(tmp_path):
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
def test_a_changed_record_is_found(tmp_path, tampering):
    audit = Audit(tmp_path / "audit.sqlite3")
    for number in range(5):
        audit.append({"decision": "run", "number": number})
    assert audit.verify() is None
    store = sqlite3.connect(tmp_path / "audit.sqlite3")
    store.executescript("DROP TRIGGER never_changed; DROP TRIGGER never_removed;" + tampering)
    store.close()
    assert audit.verify() == (6 if tampering.startswith("INSERT") else 2)
    audit.close()


CUT = "DROP TRIGGER never_removed; DELETE FROM decision WHERE number > 3;"


def recorded(folder, records=5):
    with closing(Audit(folder / "audit.sqlite3")) as audit:
        for number in range(records):
            audit.append({"number": number})


def tampered(folder, statements):
    with closing(sqlite3.connect(folder / "audit.sqlite3")) as store:
        store.executescript(statements)


def verified(folder):
    with closing(Audit(folder / "audit.sqlite3")) as audit:
        return audit.verify()


def test_records_removed_from_the_end_are_found(tmp_path):
    recorded(tmp_path)
    assert verified(tmp_path) is None
    tampered(tmp_path, CUT)
    assert verified(tmp_path) == 4


def test_removed_records_are_found_after_later_records(tmp_path):
    recorded(tmp_path)
    tampered(tmp_path, CUT)
    for _ in range(3):
        recorded(tmp_path, 1)
        assert verified(tmp_path) is not None


def test_a_removed_audit_is_reported(tmp_path):
    recorded(tmp_path)
    for file in tmp_path.glob("audit.sqlite3*"):
        file.unlink()
    assert Audit.is_kept(tmp_path / "audit.sqlite3")
    assert verified(tmp_path) == 1


def test_a_removed_mark_is_reported(tmp_path):
    recorded(tmp_path)
    (tmp_path / "audit.newest").unlink()
    assert verified(tmp_path) == 6
    recorded(tmp_path)
    assert verified(tmp_path) == 11


def test_a_rebuilt_chain_does_not_match_the_mark(tmp_path):
    recorded(tmp_path)
    forged, previous = [], "0" * 64
    for number in range(1, 7):
        digest = chained(number, previous, "{}")
        forged.append(f"INSERT INTO decision VALUES ({number}, '{{}}', '{previous}', '{digest}');")
        previous = digest
    tampered(tmp_path, CUT + "DELETE FROM decision;" + "".join(forged))
    assert verified(tmp_path) == 5


def test_a_process_that_dies_before_it_moves_the_mark_causes_no_finding(tmp_path):
    recorded(tmp_path, 1)
    lagging = (tmp_path / "audit.newest").read_bytes()
    recorded(tmp_path, 3)
    (tmp_path / "audit.newest").write_bytes(lagging)
    assert verified(tmp_path) is None
    recorded(tmp_path, 1)
    assert (tmp_path / "audit.newest").read_text("ascii").startswith(f"{5:020d} ")
    assert verified(tmp_path) is None


def test_an_audit_of_an_earlier_release_is_marked_from_then_on(tmp_path):
    recorded(tmp_path)
    (tmp_path / "audit.newest").unlink()
    tampered(tmp_path, "PRAGMA user_version = 0")
    assert verified(tmp_path) is None
    tampered(tmp_path, CUT)
    assert verified(tmp_path) == 4


def test_only_the_owner_reads_the_mark(tmp_path):
    recorded(tmp_path)
    assert stat.S_IMODE((tmp_path / "audit.newest").stat().st_mode) == 0o600


def test_two_processes_that_record_keep_the_mark_valid(tmp_path):
    """Each with a store of its own, as processes have, and somebody who verifies meanwhile."""
    recorded(tmp_path, 1)
    with ThreadPoolExecutor(4) as pool:
        doing = [pool.submit(recorded, tmp_path, 20) for _ in range(3)]
        while not all(done.done() for done in doing):
            assert verified(tmp_path) is None
        assert [done.result() for done in doing] == [None] * 3
    recorded(tmp_path, 1)
    assert (tmp_path / "audit.newest").read_text("ascii").startswith(f"{62:020d} ")
    assert verified(tmp_path) is None


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5))))
def test_records_are_read_back_in_order(tmp_path_factory, records):
    audit = Audit(tmp_path_factory.mktemp("audit") / "audit.sqlite3")
    for record in records:
        audit.append(record)
    assert [d.record for d in audit.decisions()] == records
    assert audit.verify() is None
    audit.close()
