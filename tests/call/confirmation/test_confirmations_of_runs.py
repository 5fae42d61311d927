"""Only its run approves a pending call of a run, since its key must stay the same."""

import asyncio

import pytest
from deciding import approve

from toolmd._types.call import Call
from toolmd._types.call_spec import Safety
from toolmd._types.settings import AuditSettings, Settings

KEY = "run-1/6:act"


@pytest.fixture
def keys():
    return []


@pytest.fixture
def dispatcher(harness, tool, tmp_path, keys):
    async def act(*, context=None):
        keys.append(context.idempotency_key)

    held = tool("act", act, context="context", safety=Safety(requires_confirmation=True))
    return harness(
        held, settings=Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    ).dispatcher


@pytest.fixture
def pending_id(dispatcher):
    """The id of a pending call that a run made."""
    call = Call("act", {}, KEY, key=KEY)
    return asyncio.run(dispatcher.dispatch(call)).confirmation.id


def test_a_pending_call_of_a_run_is_not_listed_for_a_person(dispatcher, pending_id):
    assert tuple(dispatcher.confirmations.pending()) == ()


def test_only_its_run_can_approve_a_pending_call(dispatcher, pending_id, keys):
    refused = asyncio.run(approve(dispatcher.confirmations, pending_id))

    assert refused.error.code == "confirmation_not_found"
    assert KEY in refused.error.message
    assert keys == []


def test_the_run_approves_its_pending_call_under_its_key(dispatcher, pending_id, keys):
    asyncio.run(approve(dispatcher.confirmations, pending_id))
    assert asyncio.run(
        dispatcher.confirmations.approve_for_run(pending_id, Call("act", {}, KEY, key=KEY))
    ).success
    assert keys == [KEY]


def test_a_pending_call_from_a_tool_waits_for_a_person(dispatcher):
    asyncio.run(dispatcher.dispatch(Call("act", {}, key="0f/1", depth=1)))
    assert len(tuple(dispatcher.confirmations.pending())) == 1
