"""Kept runs that were cancelled: what undoing them asks waits like any other question."""

import asyncio

import pytest
from kept import Kept
from run_world import NO, YES, tool

from toolmd._types.run import Answer
from toolmd.errors import NotFoundError

STEPS = """1. **Act**.
   - **Use**: act
   - **Undo**: look
2. **Act again**.
   - **Use**: act
   - **Undo**: undo
3. **Agree**.
   - **Ask**: Shall I?
4. **Return**:
   - value: done"""


@pytest.fixture
def cancelled(kept: Kept) -> Kept:
    """Return a run that was cancelled while it waited, and whose undo needs a yes."""
    guard = "## Safety\n\n- **Requires Confirmation**: true"
    kept.world.tools["undo"] = tool("undo", metadata="- **Idempotent**: keyed\n", more=guard)
    kept.run(kept.order(steps=STEPS))
    assert kept.world.called == ["act", "act"]
    result = asyncio.run(kept.engine.cancel("run-1"))
    assert (result.code, result.message) == ("waiting", "Shall I undo?")
    return kept


def question(kept: Kept) -> str:
    """Return the key of the one open question."""
    view = kept.engine.store.view("run-1")
    assert view.state == "waiting"
    assert [one.question for one in kept.engine.store.open()] == list(view.questions)
    [one] = view.questions
    return one.key


@pytest.mark.parametrize(("answer", "undone"), [(YES, ["undo", "look"]), (NO, ["look"])])
def test_a_cancelled_run_asks_for_the_undo_that_needs_a_yes_and_then_ends(
    cancelled: Kept, answer: Answer, undone: list[str]
) -> None:
    result = cancelled.answer(answer, key=question(cancelled))

    assert result.code == "cancelled"
    assert ("Not undone" in result.message) == (answer is NO)
    assert cancelled.world.called == ["act", "act", *undone]
    assert cancelled.engine.store.open() == ()
    assert cancelled.engine.store.view("run-1").state == "cancelled"


def test_a_cancelled_run_waits_until_its_question_is_answered(cancelled: Kept) -> None:
    assert cancelled.rows("SELECT state FROM run") == [("waiting",)]
    with pytest.raises(NotFoundError):
        cancelled.answer(YES, key="3:ask")


def test_a_question_of_a_cancelled_run_survives_a_restart(cancelled: Kept) -> None:
    key = question(cancelled)
    cancelled.reopen()

    assert question(cancelled) == key
    assert cancelled.answer(YES, key=key).code == "cancelled"
    assert cancelled.world.called == ["act", "act", "undo", "look"]


def test_a_run_that_is_cancelled_twice_asks_once(cancelled: Kept) -> None:
    key = question(cancelled)
    assert asyncio.run(cancelled.engine.cancel("run-1")).code == "waiting"
    assert question(cancelled) == key
    assert cancelled.answer(YES, key=key).code == "cancelled"
    assert cancelled.world.called == ["act", "act", "undo", "look"]


LOOP = """1. **Act**.
   - **For each**: n in `[1, 2, 3]`
   - **At Once**: 2
   - **Wait**: `now() + duration(n == 2 ? "1h" : "0s")`
   - **Use**: act
   - **Undo**: undo
2. **Return**:
   - value: done"""


def test_each_item_of_a_loop_that_took_effect_is_undone(kept: Kept) -> None:
    """The second item waits while the third one ends."""
    assert kept.run(kept.order(steps=LOOP)).code == "waiting"
    assert kept.world.called == ["act", "act"]

    result = asyncio.run(kept.engine.cancel("run-1"))

    assert result.code == "cancelled"
    assert kept.world.called == ["act", "act", "undo", "undo"]


def test_a_call_whose_outcome_is_not_known_is_named_when_its_run_is_cancelled(kept: Kept) -> None:
    kept.world.tools["act"] = tool("act")
    kept.run(kept.order())
    # As a process leaves it that died between the call and its record.
    kept.rows("UPDATE step SET key = '3:act:begun1' WHERE key = '1:look'")
    assert kept.answer(YES).code == "waiting"

    result = asyncio.run(kept.engine.cancel("run-1"))

    assert result.code == "cancelled"
    assert "Not known: step 3 (Act): act may have taken effect" in result.message
    assert "act" not in kept.world.called
