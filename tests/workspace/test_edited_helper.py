"""A yes is good for the code that was there: also for the modules that a tool imports."""

from pathlib import Path

import pytest
from workspace_shop import Shop

from toolmd._call.audit.reader import AuditReader
from toolmd._types.settings import Settings

ASKS = "\n## Safety\n\n- **Requires Confirmation**: true\n"
PAY = "from .bank import send\ndef pay(): return {'paid': send()}\n"


def implementations(state: Path) -> list[str]:
    """Return the hashes of the implementations in the audit, in order."""
    records = AuditReader(Settings(root=state, state=state, store="memory")).records()
    return [hash_ for one in records if (hash_ := one.record.get("implementation"))]


@pytest.mark.parametrize("way", ["reload", "restart"])
def test_a_confirmation_is_stale_after_an_edit_of_an_imported_module(shop: Shop, way: str) -> None:
    shop.tool("pay", PAY, ASKS)
    shop.write("tools_md/bank.py", "def send(): return 1\n")
    ws = shop.open(overrides={"store": "sqlite"})
    kept, late = (ws.call_sync("pay", conversation=one).confirmation.id for one in ("a", "b"))

    assert ws.confirmations.approve_sync(kept).data == {"paid": 1}
    shop.write("tools_md/bank.py", "def send(): return 9\n")
    if way == "reload":
        ws.reload()
    else:
        ws.close()
        ws = shop.open(overrides={"store": "sqlite"})

    stale = ws.confirmations.approve_sync(late)

    assert (stale.outcome, stale.error.code) == ("confirm", "confirmation_stale")
    assert ws.confirmations.approve_sync(stale.confirmation.id).data == {"paid": 9}
    hashes = implementations(ws.settings.state)
    assert len(set(hashes)) == 2
    assert hashes[0] != hashes[-1]


def test_a_confirmation_does_not_run_on_a_module_that_is_broken(shop: Shop) -> None:
    shop.tool("pay", PAY, ASKS)
    shop.write("tools_md/bank.py", "def send(): return 1\n")
    ws = shop.open()
    held = ws.call_sync("pay").confirmation.id

    shop.write("tools_md/bank.py", "def send(\n")
    ws.reload()

    stale = ws.confirmations.approve_sync(held)
    assert stale.error.code == "confirmation_stale"
    failed = ws.confirmations.approve_sync(stale.confirmation.id)
    assert not failed.success
    assert "tools_md/bank.py:1" in failed.error.message
