"""The store keeps no Sensitive value of a decided call."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from toolmd import Workspace

TOOL = """# Pay

Pay with a card.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: shop

## Parameters

### card

- **Type**: string
- **Required**: true
- **Description**: The number
- **Sensitive**: true

## Returns

- **Type**: string
- **Description**: Nothing

## Safety

- **Requires Confirmation**: true
"""


def rows(project: Path) -> str:
    with closing(sqlite3.connect(project / ".toolmd" / "store.sqlite3")) as store:
        return str(store.execute("SELECT * FROM toolmd_confirmation").fetchall())


@pytest.mark.parametrize("decision", ["approve", "edit", "reject", "respond"])
def test_a_decided_call_keeps_no_sensitive_value_in_the_store(
    tmp_path: Path, decision: str
) -> None:
    (tmp_path / "toolmd.toml").touch()
    (tmp_path / "tools_md").mkdir()
    (tmp_path / "tools_md" / "pay.tool.md").write_text(TOOL)
    (tmp_path / "tools_md" / "pay.py").write_text("def pay(card: str) -> str:\n    return 'paid'\n")

    with Workspace.open(tmp_path, overrides={"store": "sqlite"}) as workspace:
        called = workspace.call_sync("pay", {"card": "4111-22"}, message="Pay with 4111-22.")
        assert called.confirmation is not None
        waiting = called.confirmation.id
        assert "4111-22" in rows(tmp_path)
        decide = workspace.confirmations
        match decision:
            case "approve":
                assert decide.approve_sync(waiting).data == "paid"
            case "edit":
                assert decide.approve_sync(waiting, edit={"card": "4111-33"}).data == "paid"
            case "reject":
                decide.reject_sync(waiting)
            case _:
                decide.respond_sync(waiting, "Done by hand.")
        again = decide.approve_sync(waiting)

    assert again.error is not None
    assert again.error.code == "confirmation_used"
    assert "4111" not in rows(tmp_path)
