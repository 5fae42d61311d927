"""A call that corrects a pending one replaces it; other calls stay side by side."""

import asyncio

import deciding
import pytest

from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

TITLE = Parameter(name="title", shape=Schema(types=("string",)), required=True)
DATE = Parameter(name="date", shape=Schema(types=("string",), format="date"), required=True)
URGENT = Parameter(name="urgent", shape=Schema(types=("boolean",)))
PLACE = Parameter(name="place", shape=Schema(types=("object",)))
NUMBER = Parameter(name="number", shape=Schema(types=("integer",)), required=True)
PRICE = Parameter(name="number", shape=Schema(types=("number",)), required=True)
TEXT = Parameter(name="a", shape=Schema(types=("string",)))
SEVEN = Parameter(name="n", shape=Schema(types=("integer",), default=7, has_default=True))
VISIT = {"title": "Checkup", "date": "2026-01-18"}
LATER = {"title": "Checkup", "date": "2026-01-19"}


@pytest.fixture
def desk(harness, tool, tmp_path):
    async def log(title="", date="", urgent=False, place=None, number=0):
        return {"title": title, "date": date}

    own = Safety(requires_confirmation=True)
    settings = Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    return harness(
        tool("pay", log, PRICE, safety=own),
        tool("log", log, TITLE, DATE, URGENT, PLACE, safety=own),
        tool("count", log, NUMBER, DATE, safety=own),
        tool("note", log, TEXT, SEVEN, safety=own),
        settings=settings,
    )


def call(desk, arguments, message="", conversation="c1", **options):
    return desk.call("log", arguments, message=message, conversation=conversation, **options)


def approve(desk, result, **options):
    return asyncio.run(
        deciding.approve(desk.dispatcher.confirmations, result.confirmation.id, **options)
    )


def pending(desk):
    return [one.id for one in desk.dispatcher.confirmations.pending()]


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
    state = asyncio.run(desk.dispatcher.confirmations.get(first.confirmation.id)).state
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


def test_of_several_pending_calls_the_most_similar_one_is_replaced(desk):
    early = call(desk, {**VISIT, "urgent": False}, "two visits")
    late = call(desk, {**LATER, "urgent": True}, "two visits")
    third = call(desk, {**LATER, "date": "2026-01-20", "urgent": True}, "the 20th")

    assert third.confirmation.replaces == (late.confirmation.id,)
    assert set(pending(desk)) == {early.confirmation.id, third.confirmation.id}


def test_of_two_that_are_as_similar_none_is_replaced(desk):
    both = [call(desk, arguments, "two visits") for arguments in (VISIT, LATER)]
    third = call(desk, {**VISIT, "date": "2026-01-20"}, "the 20th")

    assert third.confirmation.replaces == ()
    assert {one.confirmation.id for one in both} < set(pending(desk))


def test_a_tool_without_a_required_text_is_about_its_other_required_arguments(desk):
    first = desk.call("count", {"number": 3, "date": "2026-01-18"}, conversation="c1")
    other = desk.call("count", {"number": 4, "date": "2026-01-19"}, conversation="c1")
    second = desk.call("count", {"number": 3, "date": "2026-01-20"}, conversation="c1")

    assert second.confirmation.replaces == (first.confirmation.id,)
    assert other.confirmation.replaces == ()


@pytest.mark.parametrize(
    ("before", "after", "corrects"),
    [
        ({"a": "x", "n": 1}, {"a": "x", "n": 2}, True),
        ({"a": "x", "n": 1}, {"a": "y", "n": 1}, True),
        ({"a": "x"}, {"a": "x", "n": 1}, True),
        ({"a": "x", "n": 1}, {"a": "y", "n": 2}, False),
        ({"a": "x", "n": 7}, {"a": "y", "n": 7}, False),
        ({"a": "x"}, {"n": 1}, False),
    ],
)
def test_a_tool_without_a_required_argument_is_about_what_is_no_default(
    desk, before, after, corrects
):
    first = desk.call("note", before, conversation="c1", message="one")
    second = desk.call("note", after, conversation="c1", message="two")

    assert second.confirmation.replaces == ((first.confirmation.id,) if corrects else ())


def test_the_order_of_the_keys_of_an_object_changes_nothing(desk):
    first = call(desk, {**VISIT, "place": {"street": "A", "number": 1}})
    again = call(desk, {**VISIT, "place": {"number": 1, "street": "A"}})

    assert again.confirmation.replaces == ()
    assert first.confirmation.id in pending(desk)


def test_a_number_that_is_written_in_another_way_is_the_same_call(desk):
    first, second = (desk.call("pay", {"number": one}, conversation="c1") for one in (11, 11.0))
    assert second.confirmation.id == first.confirmation.id
    assert desk.call("pay", {"number": 11.5}).confirmation.id != first.confirmation.id


def test_a_call_that_was_rejected_is_not_replaced(desk):
    first = call(desk, VISIT)
    asyncio.run(deciding.reject(desk.dispatcher.confirmations, first.confirmation.id))

    assert call(desk, LATER).confirmation.replaces == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"call_id": "step-1", "idempotency_key": "step-1"}, {}),
        ({}, {"call_id": "step-1", "idempotency_key": "step-1"}),
    ],
    ids=["of a run before", "of a run after"],
)
def test_calls_that_belong_together_stay_side_by_side(desk, before, after):
    call(desk, VISIT, **before)

    assert call(desk, LATER, **after).confirmation.replaces == ()


@pytest.mark.parametrize(("reply", "replaced"), [("r1", False), ("r2", True)])
def test_a_call_corrects_one_of_another_reply_of_the_model(desk, reply, replaced):
    def of(reply, arguments):
        caller = Caller(conversation="c1")
        return asyncio.run(
            desk.dispatcher.dispatch(Call("log", arguments, None, None, caller, reply=reply))
        )

    first = of("r1", VISIT)

    assert of(reply, LATER).confirmation.replaces == (first.confirmation.id,) * replaced
