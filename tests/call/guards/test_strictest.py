"""The strictest of all guards wins in any order, and invalid verdicts deny."""

import asyncio
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import leap

from toolmd._types.call_spec import Safety
from toolmd._types.result import Failure
from toolmd._types.settings import AuditSettings, Settings
from toolmd._types.verdict import Action, Verdict

OUTCOMES = {
    Action.ALLOW: "allowed",
    Action.CONFIRM: "confirm",
    Action.REVIEW: "review",
    Action.DENY: "denied",
}
PROJECT = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False))


def crash():
    raise RuntimeError("hunter2")


SAID = {
    "nothing": lambda: None,
    **{action.name: lambda action=action: Verdict(action, action.name) for action in Action},
    "yes": lambda: True,
    "a crash": crash,
}
ODD = {"yes", "a crash"}
OWN = {
    "nothing": Safety(),
    "CONFIRM": Safety(requires_confirmation=True),
    "REVIEW": Safety(crisis_when="true"),
    "DENY": Safety(min_confidence=0.5),
}


def guard_of(said):
    async def later(_call, _arguments):
        return SAID[said]()

    return later


@pytest.fixture(scope="module")
def guarded(harness, tool):
    """Judge a call by what its file says and by these judges, in this order."""

    def guard(own, said):
        made = tool("act", dict, safety=OWN[own])
        guards = tuple(guard_of(word) for word in said)
        return harness(made, settings=PROJECT, guards=lambda _: guards).call("act", dry_run=True)

    return guard


@given(own=st.sampled_from(list(OWN)), said=st.lists(st.sampled_from(list(SAID)), max_size=5))
def test_the_strictest_of_all_guards_wins(guarded, own, said):
    result = guarded(own, said)
    rulings = [Action[word] for word in (own, *said) if word in Action.__members__]
    strictest = max(rulings, default=Action.ALLOW)
    if own != "DENY" and ODD & set(said) and "DENY" not in said:
        assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    else:
        assert result.outcome == OUTCOMES[strictest]


@given(said=st.lists(st.sampled_from(list(SAID)), max_size=4, unique=True))
def test_the_order_of_guards_changes_no_outcome(guarded, said):
    results = [guarded("nothing", order) for order in itertools.permutations(said)]
    assert len({result.outcome for result in results}) == 1


def test_a_denial_has_a_code_if_its_guard_returned_none(harness, tool):
    def deny(_call, _arguments):
        return Verdict(Action.DENY)

    made = harness(tool("act", dict), settings=PROJECT, guards=lambda _: (deny,))
    assert made.call("act").error == Failure("denied", "")


class OwnError(BaseException):
    pass


@pytest.mark.parametrize("ends", ["blocking", "async"])
@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError, KeyboardInterrupt, OwnError])
def test_a_guard_that_would_end_the_program_denies(harness, tool, error, ends):
    if (error, ends) == (KeyboardInterrupt, "async"):
        pytest.skip("in the event loop it is the user's Ctrl-C")

    def end(_call, _arguments):
        raise error

    async def end_async(_call, _arguments):
        raise error

    guard = end if ends == "blocking" else end_async
    result = harness(tool("act", dict), settings=PROJECT, guards=lambda _: (guard,)).call("act")
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")


def test_a_call_that_is_cancelled_in_its_guard_is_cancelled(harness, tool):
    asked = asyncio.Event()

    async def ponder(_call, _arguments):
        asked.set()
        await asyncio.sleep(60)

    made = harness(tool("act", dict), settings=PROJECT, guards=lambda _: (ponder,))

    async def cancelled():
        call = asyncio.create_task(made.dispatcher.call("act", {}))
        await asked.wait()
        call.cancel()
        await asyncio.wait([call])
        return call.cancelled()

    assert asyncio.run(cancelled())


def test_a_guard_has_five_seconds(harness, tool):
    async def ponder(_call, _arguments):
        await asyncio.Event().wait()

    made = harness(tool("act", dict), settings=PROJECT, guards=lambda _: (ponder,))
    result, seconds = leap(made.dispatcher.call("act", "{}"))
    assert (result.error.code, seconds) == ("internal_guard_error", 5.0)
