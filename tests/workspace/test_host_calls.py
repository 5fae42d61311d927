"""A host names its calls: one call id asks once, runs once, and keeps its result."""

import asyncio
import json
from pathlib import Path

import pytest

from toolmd import Call, Caller, Workspace

TOOL = """\
# refund

Refund an order.

## Parameters
- **amount** (number, required): The amount.
  - **Maximum**: 500

## Returns
- **Type**: string

## Metadata
- **Category**: shop
- **Read Only**: false
- **Idempotent**: false

## Safety
- **Requires Confirmation**: true
"""
PYTHON = """
from pathlib import Path

def refund(amount: float) -> str:
    with (Path(__file__).parent / "ran").open("a") as file:
        file.write(f"{amount} ")
    return "refunded"
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return the folder of a project with one tool."""
    (tmp_path / "tools_md").mkdir()
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    (tmp_path / "tools_md/refund.tool.md").write_text(TOOL)
    (tmp_path / "tools_md/refund.py").write_text(PYTHON)
    return tmp_path


def call(amount: float = 5, **fields: str) -> Call:
    """Return a call that a host named."""
    caller = Caller(**{"user": "u1", "conversation": "c1", **fields})
    return Call("refund", {"amount": amount}, id="call-1", caller=caller)


def ran(shop: Path) -> str:
    """Return the amounts that were refunded."""
    file = shop / "tools_md/ran"
    return file.read_text() if file.exists() else ""


def test_the_same_call_again_returns_the_question_that_waits(shop: Path) -> None:
    with Workspace.open(shop, overrides={"store": "sqlite"}) as ws:
        first, again = ws.dispatch_sync(call()), ws.dispatch_sync(call())
        other = ws.dispatch_sync(call(conversation="c2"))
        assert first.confirmation
        assert again.confirmation
        assert other.confirmation
        assert first.confirmation.id == again.confirmation.id != other.confirmation.id
        found = ws.confirmations.of_call_sync("call-1", conversation="c1", user="u1")
        assert [one.id for one in found] == [first.confirmation.id]
        assert ws.confirmations.of_call_sync("call-1", conversation="c1", user="u2") == ()


def test_a_decided_call_returns_its_recorded_result(shop: Path) -> None:
    with Workspace.open(shop, overrides={"store": "sqlite"}) as ws:
        asked = ws.dispatch_sync(call()).confirmation
        assert asked
        done = ws.confirmations.approve_sync(asked.id, {"amount": 7})
        assert done.success, done.to_dict()
    with Workspace.open(shop, overrides={"store": "sqlite"}) as ws:
        again = ws.dispatch_sync(call())
        assert (again.outcome, again.data) == ("ok", "refunded")
        assert ran(shop) == "7.0 "


def test_a_no_is_the_answer_to_the_same_call(shop: Path) -> None:
    with Workspace.open(shop, overrides={"store": "sqlite"}) as ws:
        asked = ws.dispatch_sync(call()).confirmation
        assert asked
        ws.confirmations.reject_sync(asked.id)
        again = ws.dispatch_sync(call())
        assert again.error
        assert again.error.code == "rejected"
        assert ran(shop) == ""


def test_a_call_that_asked_before_never_runs_after_its_policy_went(shop: Path) -> None:
    with Workspace.open(shop, overrides={"trust_edits": True}) as ws:
        asked = ws.dispatch_sync(call()).confirmation
        assert asked
        ws.confirmations.approve_sync(asked.id)
        (shop / "tools_md/refund.tool.md").write_text(TOOL.partition("## Safety")[0])
        ws.reload()
        assert ws.dispatch_sync(call()).data == "refunded"
        assert ran(shop) == "5.0 "


def test_a_model_reads_a_result_without_what_its_host_has(shop: Path) -> None:
    with Workspace.open(shop, overrides={"store": "sqlite"}) as ws:
        wrong = asyncio.run(ws.dispatch(call(900))).for_model()
        assert wrong.is_correctable
        assert json.loads(wrong.text).keys() == {"outcome", "error"}
        waits = ws.dispatch_sync(call()).for_model()
        assert not waits.is_correctable
        assert "confirmation" not in json.loads(waits.text)
