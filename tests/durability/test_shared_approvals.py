"""What one machine asked a person, another decides: on a shared file, and on Postgres."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.definitions import Folder, skill, tool

from toolmd import Decision, Workspace
from toolmd._types.decision import Approver

ID = "### order_id\n\n- **Type**: string\n- **Required**: true\n\n"
GIVEN = """## Rules

- **Given**: order from get_order
  - order_id: `order_id`
- `order.customer == caller.customer && order.status == 'pending'`: Only your own, and pending.

## Approval

- **When**: always
- **By**: manager

"""
FIELDS = "- **Properties**:\n  - **customer**: string\n  - **status**: string\n"
SKILL = skill(
    "pay_out",
    "get_order",
    """1. **Ask a colleague**.
   - **Ask**: Pay for {order_id}?
   - **By**: manager
2. **Read it**.
   - **Use**: get_order
   - **With**:
     - order_id: `order_id`
   - **Save as**: order
3. **Return**:
   - status: `order.status`""",
    "- **order_id** (string, required)",
)
GET = """import json
from pathlib import Path

def get_order(order_id):
    return json.loads((Path(__file__).parent / "order.json").read_text())
"""
MANAGER = Approver("eve", roles=("manager",))


def order(folder: Path, status: str) -> None:
    (folder / "tools_md/order.json").write_text(json.dumps({"customer": "c1", "status": status}))


@pytest.fixture
def machines(tmp_path: Path, place: str) -> Iterator[tuple[Workspace, Workspace]]:
    folder = Folder(tmp_path)
    read = tool("get_order", ID, FIELDS)
    read = read.replace("\n## Parameters", "- **Read Only**: yes\n\n## Parameters")
    folder.write("tools_md/get_order.tool.md", read)
    folder.write("tools_md/get_order.py", GET)
    folder.write("tools_md/refund.tool.md", tool("refund", ID, GIVEN))
    folder.write("tools_md/refund.py", "def refund(order_id):\n    return {'refunded': order_id}\n")
    folder.write("skills_md/pay_out.skill.md", SKILL)
    folder.write("toolmd.toml", "[identity.facts]\ncustomer = 'string'\n")
    order(tmp_path, "pending")
    settings = {"plugins": [], "store": place, "state": str(tmp_path)}
    with (
        Workspace.open(tmp_path, overrides=settings) as here,
        Workspace.open(tmp_path, overrides=settings) as there,
    ):
        assert not here.diagnostics
        yield here, there


def code(result: Any) -> str:
    return result.outcome if result.error is None else result.error.code


def test_an_approval_is_given_on_another_machine_and_its_given_read_again(
    machines: tuple[Workspace, Workspace], tmp_path: Path
) -> None:
    here, there = machines
    caller: dict[str, Any] = {"user": "ana", "context": {"customer": "c1"}}
    decide = there.confirmations.decide_sync

    one = here.call_sync("refund", {"order_id": "o1"}, **caller).confirmation
    assert one is not None
    own = Approver("ana", roles=("manager",))
    assert code(decide(one.id, Decision.approve(), own)) == "not_allowed"
    order(tmp_path, "sent")
    assert code(decide(one.id, Decision.approve(), MANAGER)) == "not_allowed"
    order(tmp_path, "pending")
    one = here.call_sync("refund", {"order_id": "o2"}, **caller).confirmation
    assert one is not None
    assert decide(one.id, Decision.approve(), MANAGER).data == {"refunded": "o2"}
    again = here.confirmations.decide_sync(one.id, Decision.approve(), MANAGER)
    assert code(again) == "confirmation_used"


def test_a_steps_question_is_answered_on_another_machine(
    machines: tuple[Workspace, Workspace],
) -> None:
    here, there = machines
    asked = here.run_sync("pay_out", {"order_id": "o1"}, user="ana").confirmation
    assert asked is not None

    (listed,) = there.confirmations.pending_sync(user="eve", roles=["manager"])
    assert listed.id == asked.id
    denied = there.confirmations.decide_sync(asked.id, Decision.approve(), Approver("bob"))
    assert denied.outcome == "denied"
    done = there.confirmations.decide_sync(asked.id, Decision.approve(), MANAGER)
    assert (done.outcome, done.data) == ("ok", {"status": "pending"})
