"""The store keeps no Sensitive value of a call that was decided, or that expired."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.definitions import tool

from toolmd import Workspace

TOOL = tool(
    "pay",
    "- **card** (string, required): The number\n  - **Sensitive**: true",
    "\n## Safety\n\n- **Requires Confirmation**: true\n",
    returns="string",
)


def rows(project: Path) -> str:
    with closing(sqlite3.connect(project / ".toolmd" / "store.sqlite3")) as store:
        return str(store.execute("SELECT * FROM confirmation").fetchall())


def shop(project: Path) -> Workspace:
    """Return a workspace whose tool has a Sensitive parameter and needs a confirmation."""
    (project / "toolmd.toml").touch()
    (project / "tools_md").mkdir()
    (project / "tools_md" / "pay.tool.md").write_text(TOOL)
    (project / "tools_md" / "pay.py").write_text("def pay(card: str) -> str:\n    return 'paid'\n")
    return Workspace.open(project, overrides={"store": "sqlite"})


@pytest.mark.parametrize("decision", ["approve", "edit", "reject", "respond"])
def test_a_decided_call_keeps_no_sensitive_value_in_the_store(
    tmp_path: Path, decision: str
) -> None:
    with shop(tmp_path) as workspace:
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
    assert "4111-" not in rows(tmp_path)


def test_an_expired_call_loses_its_sensitive_values_when_the_next_one_is_stored(
    tmp_path: Path,
) -> None:
    with shop(tmp_path) as workspace:
        late = workspace.call_sync("pay", {"card": "4111-22"}, message="Pay with 4111-22.")
        damaged = workspace.call_sync("pay", {"card": "4111-33"})
        assert late.confirmation is not None
        assert damaged.confirmation is not None
        with closing(sqlite3.connect(tmp_path / ".toolmd" / "store.sqlite3")) as store, store:
            past = "created = created - 700, expires = expires - 700"
            store.execute(f"UPDATE confirmation SET {past}")
            store.execute(
                "UPDATE confirmation SET data = '{' WHERE id = ?", [damaged.confirmation.id]
            )
        assert workspace.call_sync("pay", {"card": "5222-44"}).outcome == "confirm"
        kept = rows(tmp_path)
        decided = workspace.confirmations.approve_sync(late.confirmation.id)

    assert "4111-" not in kept
    assert "5222-44" in kept
    assert decided.error is not None
    assert decided.error.code == "confirmation_expired"
