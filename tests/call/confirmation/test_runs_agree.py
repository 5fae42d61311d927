"""A run approves its own pending call with the same arguments, and no other call."""

import asyncio

import pytest
from deciding import approve
from tests.definitions import few

from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import Limits, Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

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
        self.dispatcher = harness(
            made, settings=Settings(root=root, state=root, audit=AuditSettings(enabled=False))
        )

    def request(self, arguments, **caller):
        return self.dispatcher.call("act", arguments, **caller).confirmation.id

    def agree(self, held, arguments, user=None):
        call = Call("act", arguments, caller=Caller(user=user))
        return asyncio.run(self.dispatcher.dispatcher.confirmations.approve_for_run(held, call))


@pytest.fixture
def agreed(harness, tool, tmp_path):
    return Run(harness, tool, tmp_path)


def test_a_run_may_repeat_a_call_with_its_keys_in_any_order(agreed):
    held = agreed.request({"details": {"a": 1, "b": {"c": 2, "d": 3}}})
    assert agreed.agree(held, {"details": {"b": {"d": 3, "c": 2}, "a": 1}}).success
    assert len(agreed.ran) == 1


def test_a_run_that_adds_an_argument_has_edited_the_call(agreed):
    again = agreed.agree(agreed.request({"number": 1}), {"number": 1, "details": {}})
    assert (again.outcome, agreed.ran) == ("confirm", [])
    assert "details: {}" in again.confirmation.prompt


def test_a_run_of_another_user_approves_nothing(agreed):
    held = agreed.request({"number": 1}, user="ada")
    assert agreed.agree(held, {"number": 1}, user="bob").error.code == "confirmation_not_found"
    assert agreed.agree(held, {"number": 1}, user="ada").success


@pytest.mark.parametrize("odd", [object(), {1, 2}])
def test_a_run_that_approves_invalid_json_is_denied(agreed, odd):
    refused = agreed.agree(agreed.request({"number": 1}), {"number": odd})
    assert refused.outcome == "denied"
    assert agreed.ran == []


def test_a_run_approves_only_pending_calls(agreed):
    assert agreed.agree("nothing", {"number": 1}).error.code == "confirmation_not_found"


def test_an_approved_call_beyond_its_limit_stays_pending(harness, tool, tmp_path):
    made = tool("act", dict, safety=CONFIRM, limits=Limits(quotas=few(1)))
    dispatcher = harness(
        made, settings=Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    )
    decisions = dispatcher.dispatcher.confirmations
    first = dispatcher.call("act", context={"day": "1"}).confirmation.id
    second = dispatcher.call("act", context={"day": "2"}).confirmation.id
    assert asyncio.run(approve(decisions, first)).success
    assert asyncio.run(approve(decisions, second)).error.code == "quota_exceeded"
    assert asyncio.run(decisions.get(second)).state == "pending"


def test_text_typed_into_a_form_is_not_the_message_of_a_call_that_asks_again(agreed):
    held = agreed.request({"number": 1}, message="One, please.")
    again = agreed.agree(held, {"number": 2})
    kept = asyncio.run(agreed.dispatcher.dispatcher.confirmations.get(again.confirmation.id))
    assert kept.call.caller.message == "One, please."
