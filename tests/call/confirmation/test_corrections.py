"""A call that corrects a pending one replaces it; other calls stay side by side."""

import asyncio

import pytest

from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

TITLE = Parameter(name="title", shape=Schema(types=("string",)), required=True)
DATE = Parameter(name="date", shape=Schema(types=("string",), format="date"), required=True)
URGENT = Parameter(name="urgent", shape=Schema(types=("boolean",)))
VISIT = {"title": "Checkup", "date": "2026-01-18"}
LATER = {"title": "Checkup", "date": "2026-01-19"}


@pytest.fixture
def desk(harness, tool, tmp_path):
    async def log(title="", date="", urgent=False):
        return {"title": title, "date": date}

    own = Safety(requires_confirmation=True)
    settings = Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    made = harness(tool("log", log, TITLE, DATE, URGENT, safety=own), settings=settings)
    yield made
    made.dispatcher.close()


def call(desk, arguments, message="", conversation="c1", **options):
    return desk.call("log", arguments, message=message, conversation=conversation, **options)


def approve(desk, result, **options):
    return asyncio.run(desk.dispatcher.decisions.confirm(result.confirmation.id, **options))


def pending(desk):
    return [one.id for one in desk.dispatcher.decisions.pending()]


def test_a_correction_replaces_the_pending_call_and_both_say_so(desk):
    first = call(desk, VISIT, "I was there on the 18th", user="ana")
    second = call(desk, LATER, "The date was actually January 19th", user="ana")
    assert pending(desk) == [second.confirmation.id]
    assert second.confirmation.replaces == (first.confirmation.id,)
    told = f"It replaces the pending call {first.confirmation.id}, which it corrects."
    assert second.notes == (told,)
    late = approve(desk, first)
    assert (late.outcome, late.error.code) == ("denied", "confirmation_used")
    assert "corrected" in late.error.message
    state = asyncio.run(desk.dispatcher.decisions.confirmation(first.confirmation.id)).state
    assert state == "superseded"
    run = approve(desk, second)
    assert (run.success, run.data["date"]) == (True, "2026-01-19")
    assert run.notes == (told,)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ({"title": "Surgery", "date": "2026-01-18"}, {}),
        (VISIT, {}),
        (LATER, {"conversation": "c2"}),
        (LATER, {"conversation": None}),
        (LATER, {"user": "ben"}),
        (LATER, {"message": "one and two"}),
        (LATER, {"dry_run": True}),
    ],
)
def test_another_call_leaves_the_pending_one(desk, arguments, options):
    first = call(desk, VISIT, "one and two")
    call(desk, arguments, **options)
    assert first.confirmation.id in pending(desk)


def test_a_changed_boolean_corrects_the_pending_call(desk):
    first = call(desk, {**VISIT, "urgent": False})
    second = call(desk, {**VISIT, "urgent": True})
    assert pending(desk) == [second.confirmation.id]
    assert first.confirmation.id not in pending(desk)
