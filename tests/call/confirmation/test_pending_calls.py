"""Pending calls: approved once, by an allowed user, and only as they were shown."""

import asyncio
import threading
from dataclasses import replace

import pytest
from deciding import approve, reject, respond

from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

TEXT = Schema(types=("string",))
DAYS = Schema(types=("array",), items=Schema(types=("integer",), minimum=1, maximum=7))
REMINDER = (
    Parameter(name="title", shape=TEXT, required=True),
    Parameter(name="time", shape=Schema(types=("string",), format="time"), required=True),
    Parameter(name="days", shape=DAYS),
)
SEED = {"title": "Take medication", "time": "09:00", "days": [1, 2, 3, 4, 5, 6, 7]}
CONFIRM = Safety(requires_confirmation=True)


class OneToolProject:
    """One tool with its dispatcher, its recorded runs, and a clock that the test sets."""

    def __init__(self, harness, tool, tmp_path):
        self.now = 1_000_000.0
        self.ran = []
        self.make, self.tool, self.root = harness, tool, tmp_path
        self.open()

    async def remind(self, title, time, days=None, *, context=None):
        self.ran.append((title, time, days, context.idempotency_key))
        return {"message": f"Created reminder: {title}"}

    def open(self, *parameters, safety=CONFIRM, function=None, guards=None, **fields):
        made = self.tool("create_reminder", function or self.remind, *(parameters or REMINDER),
                         context="context", safety=safety, **fields)  # fmt: skip
        off = AuditSettings(enabled=False)
        self.harness = self.make(
            made, settings=Settings(root=self.root, state=self.root, audit=off),
            clock=lambda: self.now, guards=guards,
        )  # fmt: skip
        self.dispatcher = self.harness.dispatcher

    def request(self, arguments=None, **context):
        result = self.harness.call("create_reminder", arguments or SEED, **context)
        assert result.outcome in ("confirm", "review")
        return result

    def confirm(self, held, **options):
        return asyncio.run(approve(self.dispatcher.confirmations, held.confirmation.id, **options))

    def reject(self, held, **options):
        return asyncio.run(reject(self.dispatcher.confirmations, held.confirmation.id, **options))

    def respond(self, held, text, **options):
        return asyncio.run(
            respond(self.dispatcher.confirmations, held.confirmation.id, text, **options)
        )


@pytest.fixture
def confirmations(harness, tool, tmp_path):
    return OneToolProject(harness, tool, tmp_path)


def test_the_prompt_names_every_argument_in_the_seeds_words(confirmations):
    held = confirmations.request(call_id="call-456").to_dict()
    assert held["confirmation"]["prompt"] == (
        "I'd like to create reminder: title: Take medication, time: 09:00, "
        "days: 1,2,3,4,5,6,7. Is this correct?"
    )
    assert held["confirmation"]["sensitivity"] == "low"
    confirmations.open(safety=Safety(sensitivity="critical"))
    critical = confirmations.request({"title": "a\nb", "time": "09:00"}).confirmation
    assert critical.prompt == (
        'I\'d like to create reminder: title: "a\\nb", time: 09:00. '
        "Please confirm these details are correct."
    )


def test_an_approved_call_runs_with_the_arguments_that_were_shown(confirmations):
    held = confirmations.request(call_id="call-456", user="u1")
    assert confirmations.ran == []
    assert [h.id for h in confirmations.dispatcher.confirmations.pending("u1")] == [
        held.confirmation.id
    ]
    result = confirmations.confirm(held, user="u1")
    assert (result.success, result.message) == (True, "Created reminder: Take medication")
    assert result.tool_call_id == "call-456"
    (ran,) = confirmations.ran
    assert ran[:-1] == tuple(SEED.values())
    assert tuple(confirmations.dispatcher.confirmations.pending()) == ()


def test_an_approved_call_has_the_key_of_the_call_or_else_of_its_confirmation(confirmations):
    for name in ("call-456", "call-456", "call-457", None):
        held = confirmations.request(call_id=name, user="u1")
        assert confirmations.confirm(held, user="u1").success
    keys = [ran[-1] for ran in confirmations.ran]
    assert (keys[0] == keys[1], len(set(keys))) == (True, 3)
    assert keys[3] == held.confirmation.id


def test_a_pending_call_survives_a_restart(confirmations):
    held = confirmations.request()
    confirmations.open()
    assert confirmations.confirm(held).success


def test_a_call_is_approved_once(confirmations):
    held = confirmations.request()
    assert confirmations.confirm(held).success
    again = confirmations.confirm(held)
    assert (again.outcome, again.error.code) == ("denied", "confirmation_used")
    assert len(confirmations.ran) == 1


def test_of_racing_approvals_one_runs(confirmations):
    held = confirmations.request()
    dispatcher, outcomes = confirmations.dispatcher, []
    ready = threading.Barrier(8)

    def approve_often():
        async def many():
            ready.wait()
            approvals = (
                approve(dispatcher.confirmations, held.confirmation.id) for _ in range(125)
            )
            return await asyncio.gather(*approvals)

        outcomes.extend(result.outcome for result in asyncio.run(many()))

    threads = [threading.Thread(target=approve_often) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 1000
    assert outcomes.count("ok") == 1
    assert len(confirmations.ran) == 1


def test_a_decision_after_ten_minutes_is_denied(confirmations):
    held = confirmations.request()
    confirmations.now += 599
    assert len(tuple(confirmations.dispatcher.confirmations.pending())) == 1
    confirmations.now += 1
    assert tuple(confirmations.dispatcher.confirmations.pending()) == ()
    assert confirmations.confirm(held).error.code == "confirmation_expired"
    assert confirmations.ran == []


def test_another_user_cannot_decide(confirmations):
    held = confirmations.request(user="u1")
    assert confirmations.confirm(held, user="u2").error.code == "confirmation_not_found"
    assert confirmations.reject(held, user="u2").error.code == "confirmation_not_found"
    assert tuple(confirmations.dispatcher.confirmations.pending("u2")) == ()
    assert confirmations.confirm(held, user="u1").success


def test_an_unknown_id_is_reported(confirmations):
    result = asyncio.run(approve(confirmations.dispatcher.confirmations, "nothing"))
    assert (result.outcome, result.error.code) == ("denied", "confirmation_not_found")


def test_an_edit_by_the_user_counts_as_approval_and_is_reported(confirmations):
    result = confirmations.confirm(confirmations.request(), edit={"days": [1, 2]})
    assert result.success
    assert result.notes == ("The user changed days: [1, 2, 3, 4, 5, 6, 7] → [1, 2].",)
    assert confirmations.ran[0][2] == [1, 2]


def test_an_invalid_edit_is_denied_and_the_call_stays_pending(confirmations):
    held = confirmations.request()
    assert confirmations.confirm(held, edit={"days": [8]}).error.code == "invalid_arguments"
    assert confirmations.confirm(held, edit={"nonsense": 1}).error.code == "invalid_arguments"
    assert confirmations.confirm(held).success


def test_an_edited_critical_call_asks_again(confirmations):
    confirmations.open(safety=Safety(sensitivity="critical"))
    first = confirmations.request()
    second = confirmations.confirm(first, edit={"time": "10:00"})
    assert second.outcome == "confirm"
    assert "time: 10:00" in second.confirmation.prompt
    assert confirmations.confirm(first).error.code == "confirmation_used"
    assert confirmations.confirm(second).success
    assert confirmations.ran[0][1] == "10:00"


def test_an_edit_is_checked_again(confirmations):
    confirmations.open(safety=Safety(requires_confirmation=True, crisis_when="size(days) < 2"))
    second = confirmations.confirm(confirmations.request(), edit={"days": [1]})
    assert second.outcome == "review"
    assert confirmations.ran == []
    assert confirmations.confirm(second, user="a reviewer").success


REVIEWED = Safety(crisis_when="true")


def test_a_caller_cannot_approve_or_answer_their_own_review(confirmations):
    confirmations.open(safety=REVIEWED)
    held = confirmations.request(user="u1")
    for refused in (
        confirmations.confirm(held, user="u1"),
        confirmations.confirm(held, user="u1", edit={"days": [1]}),
        confirmations.respond(held, "I looked at it.", user="u1"),
    ):
        assert (refused.outcome, refused.error.code) == ("denied", "review_required")
        assert "toolmd pending" in refused.error.message
    assert confirmations.ran == []
    assert [h.id for h in confirmations.dispatcher.confirmations.pending("u1")] == [
        held.confirmation.id
    ]
    assert confirmations.confirm(held, user="a reviewer").success


def test_the_operator_decides_a_review(confirmations):
    confirmations.open(safety=REVIEWED)
    for user in ("u1", None):
        assert confirmations.confirm(confirmations.request(user=user)).success
    assert len(confirmations.ran) == 2


def test_a_caller_may_reject_their_own_review(confirmations):
    confirmations.open(safety=REVIEWED)
    held = confirmations.request(user="u1")
    assert confirmations.reject(held, user="u1").error.code == "rejected"
    assert confirmations.ran == []


def test_a_run_of_the_caller_cannot_approve_a_review_of_another_call(confirmations):
    confirmations.open(safety=REVIEWED)
    held = confirmations.request(user="u1").confirmation.id
    call = Call("create_reminder", SEED, caller=Caller(user="u1"), key="run-1/4:create_reminder")
    assert (
        asyncio.run(confirmations.dispatcher.confirmations.approve_for_run(held, call)).error.code
        == "review_required"
    )
    assert confirmations.ran == []


def test_a_run_approves_its_own_review_for_any_user(confirmations):
    confirmations.open(safety=REVIEWED)
    call = Call("create_reminder", SEED, caller=Caller(user="u1"), key="run-1/4:create_reminder")
    held = asyncio.run(confirmations.dispatcher.dispatch(call))
    assert held.outcome == "review"
    lift_parts = asyncio.run(
        confirmations.dispatcher.confirmations.approve_for_run(held.confirmation.id, call)
    )
    assert lift_parts.success
    assert len(confirmations.ran) == 1


def test_an_edit_that_requires_a_review_cannot_be_approved_by_its_caller(confirmations):
    confirmations.open(safety=Safety(requires_confirmation=True, crisis_when="size(days) < 2"))
    second = confirmations.confirm(confirmations.request(user="u1"), edit={"days": [1]}, user="u1")
    assert second.outcome == "review"
    assert confirmations.confirm(second, user="u1").error.code == "review_required"
    assert confirmations.ran == []
    assert confirmations.confirm(second).success


CHANGES = {
    "a parameter": {"parameters": (*REMINDER[:2], replace(REMINDER[2], required=True))},
    "the policy": {"safety": Safety(requires_confirmation=True, min_confidence=0.1)},
    "the title": {"when_to_use": "When the user asks for one."},
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_approval_after_a_change_is_stale_and_asks_with_a_new_prompt(confirmations, what):
    held = confirmations.request(confidence=0.9)
    change = dict(CHANGES[what])
    confirmations.open(*change.pop("parameters", ()), **change)
    fresh = confirmations.confirm(held)
    assert (fresh.outcome, fresh.error.code) == ("confirm", "confirmation_stale")
    assert fresh.confirmation.id != held.confirmation.id
    assert confirmations.ran == []
    assert confirmations.confirm(held).error.code == "confirmation_used"
    assert confirmations.confirm(fresh).success


def test_a_stricter_tool_that_denies_a_pending_call_returns_the_denial(confirmations):
    held = confirmations.request(confidence=0.9)
    confirmations.open(safety=Safety(requires_confirmation=True, min_confidence=0.95))
    result = confirmations.confirm(held)
    assert (result.outcome, result.error.code) == ("denied", "confirmation_stale")
    assert "needs a confidence of at least 0.95" in result.error.message
    assert confirmations.confirm(held).error.code == "confirmation_used"
    assert confirmations.ran == []


def test_a_late_decision_is_reported_with_the_calls_own_id(confirmations):
    confirmations.open(safety=REVIEWED)
    held = confirmations.request(call_id="call-9", user="u1")
    for refused in (
        confirmations.confirm(held, user="u1"),
        confirmations.reject(held),
        confirmations.confirm(held),
    ):
        assert (refused.tool, refused.tool_call_id) == ("create_reminder", "call-9")
    stranger = confirmations.confirm(confirmations.request(user="u1"), user="u2")
    assert stranger.tool_call_id is None


def test_a_pending_call_of_a_removed_tool_does_not_run(confirmations):
    held = confirmations.request()
    root, off = confirmations.root, AuditSettings(enabled=False)
    confirmations.harness = confirmations.make(
        confirmations.tool("other"),
        settings=Settings(root=root, state=root, audit=off),
        clock=lambda: confirmations.now,
    )  # fmt: skip
    confirmations.dispatcher = confirmations.harness.dispatcher
    assert confirmations.confirm(held).error.code == "unknown_tool"


def test_a_rejected_call_never_runs(confirmations):
    held = confirmations.request()
    result = confirmations.reject(held)
    assert (result.outcome, result.error.code) == ("denied", "rejected")
    assert confirmations.confirm(held).error.code == "confirmation_used"
    assert confirmations.ran == []


def test_a_person_may_answer_in_place_of_the_tool(confirmations):
    held = confirmations.request(call_id="c")
    result = confirmations.respond(held, "It is on the fridge.")
    assert (result.success, result.data, result.tool_call_id) == (True, "It is on the fridge.", "c")
    assert confirmations.confirm(held).error.code == "confirmation_used"
    assert confirmations.ran == []


def test_a_dry_run_shows_the_prompt_and_stores_nothing(confirmations):
    result = confirmations.request(dry_run=True)
    assert result.confirmation.prompt.startswith("I'd like to create reminder")
    assert "id" not in result.to_dict()["confirmation"]
    assert tuple(confirmations.dispatcher.confirmations.pending()) == ()


def test_stored_confirmations_hide_sensitive_values(confirmations):
    secret = Parameter(name="title", shape=replace(TEXT, sensitive=True))
    confirmations.open(secret, *REMINDER[1:])
    held = confirmations.request()
    assert "title: Take medication" in held.confirmation.prompt
    (kept,) = confirmations.dispatcher.confirmations.pending()
    assert "Take medication" not in str(kept.to_dict())
    changed = confirmations.confirm(held, edit={"title": "hunter2"})
    assert confirmations.ran[0][0] == "hunter2"
    assert "hunter2" not in str(changed.notes)


def test_true_and_one_are_different_approved_arguments(confirmations):
    flag = Parameter(name="title", shape=Schema())
    confirmations.open(flag, *REMINDER[1:])
    held = confirmations.request({"title": True, "time": "09:00"})
    assert confirmations.confirm(held, edit={"title": 1}).notes == (
        "The user changed title: true → 1.",
    )
    assert type(confirmations.ran[0][0]) is int


def test_a_run_approves_with_the_arguments_that_its_person_approved(confirmations):
    for days in (SEED["days"], [1, 2]):
        held = confirmations.request()
        call = Call("create_reminder", {**SEED, "days": days}, key="run-1/4:create_reminder")
        assert asyncio.run(
            confirmations.dispatcher.confirmations.approve_for_run(held.confirmation.id, call)
        ).success
        assert confirmations.ran[-1] == (
            "Take medication",
            "09:00",
            days,
            "run-1/4:create_reminder",
        )


def test_a_run_may_omit_filled_in_defaults(confirmations):
    days = replace(DAYS, has_default=True, default=[1])
    confirmations.open(
        *REMINDER[:2],
        Parameter(name="days", shape=days),
        safety=Safety(sensitivity="critical"),
    )
    given = {"title": "Walk", "time": "09:00"}
    held = confirmations.request(given)
    call = Call("create_reminder", given)
    assert asyncio.run(
        confirmations.dispatcher.confirmations.approve_for_run(held.confirmation.id, call)
    ).success
    assert confirmations.ran[0][2] == [1]
