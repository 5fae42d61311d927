"""The parts of `make interop` that can be tested without the checkers."""

from pathlib import Path

from applies import reason_against

from toolmd import Workspace

HERE = Path(__file__).parent


def test_the_graded_tools_have_no_errors(tmp_path: Path) -> None:
    with Workspace.open(HERE / "project", overrides={"state": str(tmp_path)}) as workspace:
        assert workspace.diagnostics == ()


def test_an_invalid_message_is_never_excused() -> None:
    assert reason_against("tasks-lifecycle", "tasks-created") is not None
    assert reason_against("tasks-lifecycle", "wire-schema-valid") is None
    assert reason_against("tools-list", "tools-list") is None
