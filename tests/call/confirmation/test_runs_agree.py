"""A run agrees to the call that it holds, as it holds it, and to no other."""

import asyncio

import pytest

from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import Limits, Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import Settings

CONFIRM = Safety(requires_confirmation=True)


DETAILS = Parameter(name="details", shape=Schema(types=("object",)))


class Run:
    """A run whose person agreed to a critical call of a tool that takes anything."""

    def __init__(self, harness, tool, root):
        self.ran = []

        async def act(number=None, details=None):
            self.ran.append((number, details))

        free = Parameter(name="number", shape=Schema())
        made = tool("act", act, free, DETAILS, safety=Safety(sensitivity="critical"))
        self.dispatcher = harness(made, settings=Settings(root=root, state=root, audit=False))

    def hold(self, arguments, **caller):
        return self.dispatcher.call("act", arguments, **caller).confirmation.id

    def agree(self, held, arguments, user=None):
        call = Call("act", arguments, caller=Caller(user=user))
        return asyncio.run(self.dispatcher.dispatcher.decisions.confirm_call(held, call))


@pytest.fixture
def agreed(harness, tool, tmp_path):
    return Run(harness, tool, tmp_path)


def test_a_run_repeats_a_call_in_any_order_of_its_keys(agreed):
    held = agreed.hold({"details": {"a": 1, "b": {"c": 2, "d": 3}}})
    assert agreed.agree(held, {"details": {"b": {"d": 3, "c": 2}, "a": 1}}).success
    assert len(agreed.ran) == 1


def test_a_run_that_adds_an_argument_has_edited_the_call(agreed):
    again = agreed.agree(agreed.hold({"number": 1}), {"number": 1, "details": {}})
    assert (again.outcome, agreed.ran) == ("confirm", [])
    assert "details: {}" in again.confirmation.prompt


def test_a_run_of_another_user_agrees_to_nothing(agreed):
    held = agreed.hold({"number": 1}, user="ada")
    assert agreed.agree(held, {"number": 1}, user="bob").error.code == "confirmation_not_found"
    assert agreed.agree(held, {"number": 1}, user="ada").success


@pytest.mark.parametrize("odd", [object(), {1, 2}])
def test_a_run_that_agrees_to_what_is_no_json_is_refused(agreed, odd):
    refused = agreed.agree(agreed.hold({"number": 1}), {"number": odd})
    assert refused.outcome == "denied"
    assert agreed.ran == []


def test_a_run_agrees_to_nothing_that_is_not_held(agreed):
    assert agreed.agree("nothing", {"number": 1}).error.code == "confirmation_not_found"


def test_what_may_not_start_yet_still_waits(harness, tool, tmp_path):
    made = tool("act", dict, safety=CONFIRM, limits=Limits(max_calls=1))
    dispatcher = harness(made, settings=Settings(root=tmp_path, state=tmp_path, audit=False))
    decisions = dispatcher.dispatcher.decisions
    first, second = (dispatcher.call("act").confirmation.id for _ in range(2))
    assert asyncio.run(decisions.confirm(first)).success
    assert asyncio.run(decisions.confirm(second)).error.code == "budget_exhausted"
    assert decisions.confirmation_sync(second).state == "pending"


def test_what_was_typed_into_a_form_is_no_message_of_the_call_that_is_held_anew(agreed):
    held = agreed.hold({"number": 1}, message="One, please.")
    again = agreed.agree(held, {"number": 2})
    kept = agreed.dispatcher.dispatcher.decisions.confirmation_sync(again.confirmation.id)
    assert kept.call.caller.message == "One, please."
