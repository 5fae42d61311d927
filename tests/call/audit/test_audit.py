"""The audit: one record before each effect, chained, and no call without it."""

import asyncio
import json
import time
from concurrent.futures import Future

import pytest
from deciding import approve, reject, respond
from hypothesis import example, given
from hypothesis import strategies as st
from virtual_time import VirtualTime, most_in_a_window, run

from toolmd._call.audit.log import LOOK_S, AuditLog
from toolmd._call.audit.reader import AuditReader
from toolmd._store.store import Store
from toolmd._types.call_spec import Limits, Rate, Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import SafetySettings, Settings
from toolmd._types.verdict import Action, Problem, Verdict

SECRET = Parameter(name="pin", shape=Schema(types=("string",), sensitive=True))


@pytest.fixture
def settings(tmp_path):
    return Settings(root=tmp_path, state=tmp_path)


def test_each_decision_is_recorded_before_its_effect(harness, tool, settings):
    seen = []

    async def act(pin=""):
        seen.extend(d.record["decision"] for d in AuditReader(settings).records())
        return {}

    dispatcher = harness(tool("act", act, SECRET), settings=settings, clock=lambda: 0.0)
    dispatcher.call("act", {"pin": "hunter2"}, user="u1", call_id="c1", confidence=0.9)
    dispatcher.call("act", {"nip": "hunter2"})
    dispatcher.call("unknown")
    dispatcher.call("act", dry_run=True)
    assert seen == ["run"]
    records = [d.record for d in AuditReader(settings).records()]
    assert [r["decision"] for r in records] == ["run", "deny", "deny"]
    assert records[0] | {"spec": "", "implementation": ""} == {
        "at": "1970-01-01T00:00:00.000000+00:00", "decision": "run", "tool": "act", "call": "c1",
        "user": "u1", "confidence": 0.9, "arguments": {"pin": "(hidden)"},
        "spec": "", "implementation": "",
    }  # fmt: skip
    assert (records[1]["code"], records[1]["faults"]) == (
        "invalid_arguments", [["invalid_arguments", "nip"]],
    )  # fmt: skip
    assert "hunter2" not in json.dumps(records)
    assert AuditReader(settings).verify().sound


def pending_dispatcher(harness, tool, settings, **safety):
    async def act(number=0):
        return {}

    number = Parameter(name="number", shape=Schema(types=("integer",)))
    return harness(tool("act", act, number, safety=Safety(**safety)), settings=settings).dispatcher


def told(settings, *keys):
    return [tuple(d.record.get(key) for key in keys) for d in AuditReader(settings).records()]


def test_a_run_record_names_the_approved_call(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, requires_confirmation=True)
    held = asyncio.run(dispatcher.call("act", {})).confirmation.id
    asyncio.run(approve(dispatcher.confirmations, held))
    asyncio.run(approve(dispatcher.confirmations, held))
    assert told(settings, "decision", "confirmation", "code") == [
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
        harness, tool, project, crisis_when=None if crisis_words else "true"
    )
    asyncio.run(dispatcher.call("act", {}, message="suicide"))
    assert told(project, "decision", "code") == [("review", "review_required")]


def test_a_denial_is_recorded_with_its_reason(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, min_confidence=0.9)
    results = [asyncio.run(dispatcher.call("act", {}, confidence)) for confidence in (0.5, None)]
    results.append(asyncio.run(dispatcher.call("nothing", {})))
    reasons = [(result.error.code, result.error.message) for result in results]
    assert told(settings, "code", "reason") == reasons


def test_a_record_names_the_wrong_arguments_and_leaves_their_explanation_to_the_caller(
    harness, tool, settings
):
    dispatcher = pending_dispatcher(harness, tool, settings)
    result = asyncio.run(dispatcher.call("act", {"number": "1"}))
    assert result.error.message == 'number must be an integer; got "1"'
    assert result.error is result.error
    assert told(settings, "code", "faults", "reason") == [
        ("invalid_arguments", [["invalid_arguments", "number"]], None)
    ]


def test_each_decision_names_its_pending_call(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, requires_confirmation=True)
    asked = [asyncio.run(dispatcher.call("act", {}, conversation=name)) for name in ("a", "b")]
    first, second = (one.confirmation.id for one in asked)
    asyncio.run(reject(dispatcher.confirmations, first))
    asyncio.run(respond(dispatcher.confirmations, second, "Done by hand."))
    assert told(settings, "decision", "confirmation")[2:] == [("deny", first), ("answered", second)]


def test_a_call_that_runs_at_once_records_which_pending_call_it_ends(harness, tool, settings):
    async def act(number=0):
        return {}

    safety = Safety(explicit_intent=True, intent_keywords=("act",))
    number = Parameter(name="number", shape=Schema(types=("integer",)), required=True)
    dispatcher = harness(tool("act", act, number, safety=safety), settings=settings)
    for message in ("Can you act?", "Act"):
        dispatcher.call("act", {"number": 3}, message=message, conversation="c1")
    (waited, _), ran, ended = told(settings, "decision", "confirmation")
    first = told(settings, "confirmation")[0][0]
    assert (waited, ran, ended) == ("confirm", ("run", None), ("superseded", first))
    assert told(settings, "arguments")[1:] == [({"number": 3},)] * 2


def test_an_edited_critical_call_that_asks_again_has_its_own_record(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, sensitivity="critical")
    first = asyncio.run(dispatcher.call("act", {"number": 1})).confirmation.id
    second = asyncio.run(
        approve(dispatcher.confirmations, first, edit={"number": 2})
    ).confirmation.id
    asyncio.run(approve(dispatcher.confirmations, second))
    assert told(settings, "decision", "confirmation", "instead_of", "arguments") == [
        ("confirm", first, None, {"number": 1}),
        ("confirm", second, first, {"number": 2}),
        ("run", second, None, {"number": 2}),
    ]


def test_a_stale_approval_that_asks_again_has_its_own_record(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, requires_confirmation=True)
    first = asyncio.run(dispatcher.call("act", {"number": 5})).confirmation.id
    changed = pending_dispatcher(harness, tool, settings, crisis_when="number > 4")
    result = asyncio.run(approve(changed.confirmations, first))
    second = result.confirmation.id
    assert (result.outcome, result.error.code) == ("review", "confirmation_stale")
    assert told(settings, "decision", "confirmation", "instead_of", "code")[1:] == [
        ("review", second, first, "confirmation_stale")
    ]


def test_a_new_confirmation_without_a_record_is_denied(harness, tool, settings):
    dispatcher = pending_dispatcher(harness, tool, settings, sensitivity="critical")
    first = asyncio.run(dispatcher.call("act", {"number": 1})).confirmation.id
    block(settings.state)
    result = asyncio.run(approve(dispatcher.confirmations, first, edit={"number": 2}))
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")


def block(state):
    """Put a file where the folder of the records belongs."""
    folder = state / "audit"
    if folder.exists():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    folder.write_text("not a folder")
    until = time.monotonic() + LOOK_S
    while time.monotonic() < until:
        pass  # A writer with an open file looks at it again after so long.


def test_a_call_is_denied_if_the_audit_cannot_be_written(harness, tool, tmp_path):
    ran = []

    async def act():
        ran.append(1)

    block(tmp_path)
    dispatcher = harness(tool("act", act), settings=Settings(root=tmp_path, state=tmp_path))
    for _ in range(3):
        result = dispatcher.call("act")
        assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    assert ran == []


MOST_LINE = 160 * 1024
"""Far below the longest line that a reader accepts."""


def longest_line(settings):
    files = (settings.state / "audit").glob("*.jsonl")
    return max(len(line) for file in files for line in file.read_bytes().splitlines())


HOSTILE = st.text(st.characters(), max_size=3).map(lambda text: text * 20_000) | st.text()


@given(
    HOSTILE,
    st.none() | HOSTILE,
    HOSTILE | st.floats() | st.sampled_from([10**6000, [[]], {"a": "b" * 10**6}, True]),
    st.dictionaries(HOSTILE, HOSTILE, max_size=3),
)
@example("\u20ac" * 60_000, None, 1.0, {})
def test_each_denied_call_leaves_one_record_of_bounded_size(
    harness, tool, tmp_path_factory, text, name, confidence, arguments
):
    folder = tmp_path_factory.mktemp("audit")
    settings = Settings(root=folder, state=folder, store="memory")

    async def talkative(call, arguments):
        return Verdict(Action.DENY, text, text, (Problem(text, text, text),) * 30)

    async def act(number=0):
        return {}

    guarded = harness(tool("act", act), settings=settings, guards=lambda _: (talkative,))
    for called, given_arguments in (("act", {}), ("act", arguments), (text, arguments)):
        guarded.call(
            called,
            given_arguments,
            user=name,
            conversation=name,
            call_id=name,
            confidence=confidence,
        )
    guarded.close()

    assert told(settings, "decision") == [("deny",)] * 3
    assert longest_line(settings) < MOST_LINE
    assert AuditReader(settings).verify().sound


def test_large_arguments_are_recorded_by_their_hash_and_size(harness, tool, settings):
    async def act(text):
        return {}

    text = Parameter(name="text", shape=Schema(types=("string",)))
    dispatcher = harness(tool("act", act, text), settings=settings)
    for size in (8000, 9000):
        assert dispatcher.call("act", {"text": "x" * size}).success
    small, large = [one.record["arguments"] for one in AuditReader(settings).records()]
    assert small == {"text": "x" * 8000}
    assert large.keys() == {"sha256", "bytes"}
    assert large["bytes"] == len('{"text":""}') + 9000


class Disk(AuditLog):
    """A log whose disk has the records when the test says so."""

    def __init__(self, settings):
        super().__init__(settings.state / "audit", synced=True)
        self.waiting = []

    def sync(self):
        self.waiting.append(Future())
        return self.waiting[-1]


def test_other_calls_continue_while_one_waits_for_the_disk(harness, tool, settings):
    ran = []

    async def act(number=0):
        ran.append(number)

    number = Parameter(name="number", shape=Schema(types=("integer",)))
    disk = Disk(settings)
    dispatcher = harness(tool("act", act, number), settings=settings, log=disk).dispatcher

    async def main():
        calls = [asyncio.create_task(dispatcher.call("act", {"number": n})) for n in (1, 2)]
        while len(disk.waiting) < 2:  # noqa: ASYNC110 - a call has no event for it
            await asyncio.sleep(0.001)
        assert ran == []
        for waiting in reversed(disk.waiting):
            waiting.set_result(None)
        assert [(await call).success for call in calls] == [True, True]

    asyncio.run(main())
    assert sorted(ran) == [1, 2]


def test_calls_that_waited_for_the_disk_still_keep_the_rate(harness, tool, settings):
    time, disk, times = VirtualTime(), Disk(settings), []

    async def act():
        times.append(time.now())

    seldom = tool("act", act, limits=Limits(rate=Rate(calls=1, per_s=1)))
    options = {"settings": settings, "log": disk, "timing": time.timing}
    store = Store("memory", settings.state, epoch=time.timing.epoch)
    dispatcher = harness(seldom, store=store, **options).dispatcher

    async def main():
        calls = [asyncio.create_task(dispatcher.call("act", {})) for _ in range(3)]
        # By then all three have had their turn.
        while len(disk.waiting) < 3:
            await time.sleep(1.0)
        assert times == []
        for waiting in disk.waiting:
            waiting.set_result(None)
        return [(await call).success for call in calls]

    assert run(time, main) == [True] * 3
    assert most_in_a_window(times, 1.0) == 1


def test_a_call_whose_record_the_disk_did_not_take_does_not_run(harness, tool, settings):
    ran = []

    async def act():
        ran.append(1)

    def fail(descriptor):
        raise OSError(5, "input/output error")

    log = AuditLog(settings.state / "audit", synced=True, fsync=fail)
    dispatcher = harness(tool("act", act), settings=settings, log=log)
    result = dispatcher.call("act")
    assert (result.outcome, result.error.code, ran) == ("denied", "internal_guard_error", [])
