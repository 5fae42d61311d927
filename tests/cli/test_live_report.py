"""What `dev` reports of edits while their author works."""

from pathlib import Path

import pytest
from tests.definitions import tool

from toolmd import Workspace
from toolmd._cli.verbs.serve import LiveReport

TOOL = tool(
    "pay",
    "- `amount` (integer, required): How much.",
    "\n## Safety\n\n- **Confirm When**: `amount > 10`\n",
    returns="string",
)


def test_an_edit_that_weakens_is_shown_once_in_the_words_of_its_author(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tools_md/pay.tool.md"
    file.parent.mkdir()
    file.write_text(TOOL)
    with Workspace.open(tmp_path, overrides={"plugins": []}) as workspace:
        report = LiveReport(workspace)
        workspace.on_change(report.changed)
        report.checked(workspace.diagnostics)
        file.write_text(TOOL.replace("> 10", "> 20"))
        for _ in range(3):
            workspace.reload()
            report.checked(workspace.diagnostics)
        (edit,) = workspace.changes.list_sync()
    shown = capsys.readouterr().err
    assert shown.count("amount > 10") == shown.count("amount > 20") == 1
    assert "||" not in shown
    assert "pay: this edit weakens its policy, so it waits" in shown
    assert str(edit.weakened[0]) == "Safety: Confirm When: amount > 10 → amount > 20"


def test_snapshots_that_are_checked_at_once_are_reported_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "tools_md/pay.py"
    python.parent.mkdir()
    (tmp_path / "tools_md/pay.tool.md").write_text(TOOL)
    python.write_text("def pay(amount): return str(amount)\n")
    with Workspace.open(tmp_path, overrides={"plugins": []}) as workspace:
        report = LiveReport(workspace)
        workspace.on_change(report.changed)
        report.checked(workspace.diagnostics)
        for more in ("# a\n", "# b\n"):
            python.write_text(python.read_text() + more)
            workspace.reload()
        for _ in range(3):
            report.checked(workspace.diagnostics)
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("1 tool, 0 skills, all well")
    assert "read again: 1 tool" in second
