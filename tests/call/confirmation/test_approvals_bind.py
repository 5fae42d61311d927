"""An approval applies to the checked call only; any change of it asks again."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from deciding import approve, reject, respond

from toolmd._types.call import Budget
from toolmd._types.call_spec import Limits, Safety
from toolmd._types.registry import Binding, Implementation
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, SafetySettings, Settings
from toolmd._types.verdict import Action, Verdict

NUMBER = Parameter(name="number", shape=Schema(types=("integer",)))


CONFIRM = Safety(requires_confirmation=True)


class World:
    """Doors to one tool over one folder, each with another policy."""

    def __init__(self, harness, tool, root):
        self.harness, self.tool, self.root = harness, tool, root
        self.ran = []
        self.now = 1_000_000.0

    def dispatcher(self, *, body="0" * 64, package_min=None, notes="", guards=(), **safety):
        async def act(number=0):
            self.ran.append(number)
            return {}

        made = self.tool("act", act, NUMBER, safety=CONFIRM, notes=notes)
        of_body = Implementation("act", body, act, "async")
        made = type(made)("act", made.spec, Binding("sibling", "act", lambda: of_body))
        made.default_min = package_min
        project = Settings(
            root=self.root,
            state=self.root,
            audit=AuditSettings(enabled=False),
            safety=SafetySettings(**safety),
        )
        return self.harness(
            made, settings=project, guards=lambda _: guards, clock=lambda: self.now
        )  # fmt: skip

    def decide(self, harness, held, **options):
        calls = harness.dispatcher.confirmations
        return asyncio.run(approve(calls, held.confirmation.id, **options))


@pytest.fixture
def world(harness, tool, tmp_path):
    return World(harness, tool, tmp_path)


CHANGES = {
    "the implementation": {"body": "1" * 64},
    "the definition": {"notes": "For nurses."},
    "the floor": {"floor": 0.1},
    "the default": {"default_min": 0.1},
    "the default of its package": {"package_min": 0.1},
    "the words of a crisis": {"crisis_words": ("flood",)},
    "what a missing confidence does": {"on_missing_confidence": "confirm"},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_the_checked_call_asks_again(world, what):
    before, after = world.dispatcher(), world.dispatcher(**CHANGES[what])
    held = before.call("act", {"number": 1}, confidence=0.5)
    fresh = world.decide(after, held)
    assert (fresh.outcome, fresh.error.code) == ("confirm", "confirmation_stale")
    assert fresh.confirmation.prompt == "I'd like to act: number: 1. Is this correct?"
    assert world.ran == []
    assert world.decide(after, held).error.code == "confirmation_used"
    assert world.decide(after, fresh).success
    assert world.ran == [1]


def test_a_pending_call_changed_in_its_store_asks_again(world):
    dispatcher = world.dispatcher()
    held = dispatcher.call("act", {"number": 1}, confidence=0.5)
    with closing(sqlite3.connect(world.root / "store.sqlite3")) as store, store:
        changed = store.execute("UPDATE confirmation SET data = replace(data, ': 1}', ': 2}')")
        assert changed.rowcount == 1

    fresh = world.decide(dispatcher, held)

    assert (fresh.outcome, fresh.error.code) == ("confirm", "confirmation_stale")
    assert fresh.confirmation.prompt == "I'd like to act: number: 2. Is this correct?"
    assert world.ran == []


def test_an_approval_below_a_raised_threshold_is_denied(world):
    held = world.dispatcher().call("act", {"number": 1}, confidence=0.5)
    refused = world.decide(world.dispatcher(floor=0.9), held)
    assert (refused.outcome, refused.error.code) == ("denied", "confirmation_stale")
    assert "changed since this call was stored" in refused.error.message
    assert world.ran == []


def test_a_guard_that_denies_by_then_stops_an_approval(world):
    says = [None, Verdict(Action.DENY, "not_now", "Not now."), None]
    dispatcher = world.dispatcher(guards=(lambda _call, _arguments: says.pop(0),))
    held = dispatcher.call("act", {"number": 1})
    refused = world.decide(dispatcher, held)
    assert (refused.outcome, refused.error.code) == ("denied", "not_now")
    assert world.ran == []
    # The call still waits, for when it may run.
    assert world.decide(dispatcher, held).success
    assert world.ran == [1]


def test_a_guard_that_requires_a_review_by_then_asks_again(world):
    says = [None, Verdict(Action.REVIEW, "looked_at"), Verdict(Action.REVIEW, "looked_at")]
    dispatcher = world.dispatcher(guards=(lambda _call, _arguments: says.pop(0),))
    held = dispatcher.call("act", {"number": 1}, user="ada")
    again = world.decide(dispatcher, held, user="ada")
    assert (again.outcome, world.ran) == ("review", [])
    assert world.decide(dispatcher, held, user="ada").error.code == "confirmation_used"
    assert world.decide(dispatcher, again, user="bob").success


def test_a_confirmation_states_its_kind_its_time_and_its_expiry(world):
    dispatcher = world.dispatcher()
    held = dispatcher.call("act", {"number": 1}, user="ada", call_id="c1")
    (kept,) = dispatcher.dispatcher.confirmations.pending()
    assert (kept.id, kept.kind, kept.state) == (held.confirmation.id, "confirm", "pending")
    assert (kept.created, kept.expires) == (world.now, world.now + 600.0)
    assert (kept.call.tool, kept.call.id, kept.call.caller.user) == ("act", "c1", "ada")
    assert kept.shown == {"number": 1}
    assert held.confirmation == kept
    assert kept.to_request() == {
        "id": kept.id, "prompt": "I'd like to act: number: 1. Is this correct?",
        "sensitivity": "low",
    }  # fmt: skip


def test_a_confirmation_shows_all_but_hidden_values(harness, tool, tmp_path):
    pin = Parameter(name="pin", shape=Schema(types=("string",), sensitive=True))
    safety = Safety(sensitivity="critical")
    project = Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    dispatcher = harness(
        tool("act", dict, pin, NUMBER, safety=safety), settings=project, clock=lambda: 7.0
    )
    dispatcher.call("act", {"pin": "hunter2", "number": 1}, user="ada", call_id="c1")
    (kept,) = dispatcher.dispatcher.confirmations.pending()
    assert kept.to_dict() == {
        "id": kept.id, "kind": "confirm", "tool_call_id": "c1", "tool": "act",
        "parameters": {"pin": "(hidden)", "number": 1}, "user": "ada",
        "prompt": kept.prompt, "sensitivity": "critical",
        "created": 7.0, "expires": 607.0, "state": "pending",
    }  # fmt: skip


def test_the_oldest_confirmation_comes_first(world):
    dispatcher = world.dispatcher()
    ids = []
    for number in range(1, 6):
        world.now -= 1
        ids.append(dispatcher.call("act", {"number": number}).confirmation.id)
    assert [held.id for held in dispatcher.dispatcher.confirmations.pending()] == ids[::-1]


def state_of(dispatcher, held):
    return asyncio.run(dispatcher.dispatcher.confirmations.get(held.confirmation.id)).state


def test_a_confirmation_keeps_its_outcome(world):
    dispatcher = world.dispatcher()
    held = [dispatcher.call("act", {"number": number}) for number in range(1, 7)]
    decisions = dispatcher.dispatcher.confirmations
    assert state_of(dispatcher, held[0]) == "pending"
    world.decide(dispatcher, held[0])
    world.decide(dispatcher, held[1], edit={"number": 1})
    asyncio.run(reject(decisions, held[2].confirmation.id))
    asyncio.run(respond(decisions, held[3].confirmation.id, "Done."))
    world.decide(world.dispatcher(notes="Another."), held[4])
    world.now += 600
    world.decide(dispatcher, held[5])
    states = [state_of(dispatcher, one) for one in held]
    assert states == ["approved", "edited", "rejected", "answered", "stale", "expired"]
    for one, state in zip(held, states, strict=True):
        again = world.decide(dispatcher, one)
        if state == "expired":
            assert again.error.code == "confirmation_expired"
        else:
            assert again.error.code == "confirmation_used"
            assert state in again.error.message
    assert asyncio.run(decisions.get("nobody's")) is None


@pytest.mark.parametrize("odd", [object(), {1, 2}])
def test_an_edit_that_is_not_json_is_malformed_and_decides_nothing(world, odd):
    dispatcher = world.dispatcher()
    held = dispatcher.call("act", {"number": 1})
    refused = world.decide(dispatcher, held, edit={"number": odd})
    assert (refused.outcome, refused.error.code) == ("denied", "malformed_call")
    assert world.decide(dispatcher, held).success
    assert world.ran == [1]


def test_text_typed_into_a_form_is_not_the_users_message_of_a_tool(harness, tool, tmp_path):
    async def act(number, *, context=None):
        return context.message

    made = tool("act", act, NUMBER, context="context", safety=CONFIRM)
    dispatcher = harness(
        made, settings=Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    )
    held = dispatcher.call("act", {"number": 1}, message="One, please.").confirmation.id
    done = asyncio.run(approve(dispatcher.dispatcher.confirmations, held, edit={"number": 2}))
    assert (done.data, done.success) == ("One, please.", True)


def test_a_tool_that_requires_a_user_by_then_asks_nobody_again(harness, tool, tmp_path):
    project = Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    before, after = (
        harness(tool("act", dict, safety=CONFIRM, requires_auth=needs), settings=project)
        for needs in (False, True)
    )
    held = before.call("act").confirmation.id
    refused = asyncio.run(approve(after.dispatcher.confirmations, held))
    assert (refused.outcome, refused.error.code) == ("denied", "confirmation_stale")
    assert "needs a signed-in user" in refused.error.message


def test_a_stale_approval_says_why_it_asks_again(world):
    held = world.dispatcher().call("act", {"number": 1})
    fresh = world.decide(world.dispatcher(notes="Another."), held)
    assert "must be confirmed again" in fresh.error.message


def test_the_budget_of_a_plan_is_stored_with_its_pending_call(harness, tool, tmp_path):
    made = tool("act", dict, safety=CONFIRM, limits=Limits(max_concurrent=1))
    dispatcher = harness(
        made, settings=Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    )
    held = dispatcher.call("act", budget=Budget(1, 2, 3000)).confirmation.id
    assert asyncio.run(dispatcher.dispatcher.confirmations.get(held)).call.budget == Budget(
        1, 2, 3000
    )
    assert asyncio.run(approve(dispatcher.dispatcher.confirmations, held)).success


def test_text_typed_into_the_form_counts_as_the_users_words(harness, tool, tmp_path):
    said = Parameter(name="name", shape=Schema(types=("string",), verbatim=True))
    made = tool("log", lambda name: name, said, safety=CONFIRM)
    dispatcher = harness(
        made, settings=Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    )
    held = dispatcher.call("log", {"name": "Ada"}, message="Log Ada").confirmation.id
    done = asyncio.run(approve(dispatcher.dispatcher.confirmations, held, edit={"name": "Zoë"}))
    assert (done.outcome, done.data) == ("ok", "Zoë")


def test_observers_receive_an_edited_call_with_its_new_arguments(harness, tool, tmp_path):
    heard, project = [], Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    dispatcher = harness(
        tool("act", lambda number: number, NUMBER, safety=CONFIRM), settings=project,
        before=lambda call, _spec: heard.append(call.arguments["number"]),
    )  # fmt: skip
    held = dispatcher.call("act", {"number": 1}).confirmation.id
    calls = dispatcher.dispatcher.confirmations
    assert asyncio.run(approve(calls, held, edit={"number": 2.0})).success
    assert [(type(number), number) for number in heard] == [(int, 2)]


def test_an_identical_call_waits_for_the_same_confirmation_and_runs_once(world):
    dispatcher = world.dispatcher()
    first, again = (dispatcher.call("act", {"number": 1}, call_id=one) for one in ("a", "b"))
    assert first.confirmation.id == again.confirmation.id
    assert (first.tool_call_id, again.tool_call_id) == ("a", "b")
    other = dispatcher.call("act", {"number": 2})
    assert other.confirmation.id != first.confirmation.id
    assert world.decide(dispatcher, first).success
    assert world.decide(dispatcher, again).error.code == "confirmation_used"
    assert dispatcher.call("act", {"number": 1}).confirmation.id != first.confirmation.id
