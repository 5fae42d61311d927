"""The parts of `make interop` that can be tested without the checkers."""

from pathlib import Path

import pytest
from applies import REASONS, reason_against

from toolmd import Workspace

HERE = Path(__file__).parent
FIGURES = HERE.parents[1] / "docs" / "explanation" / "figures.md"


def test_the_graded_tools_have_no_errors(tmp_path: Path) -> None:
    with Workspace.open(HERE / "project", overrides={"state": str(tmp_path)}) as workspace:
        assert workspace.diagnostics == ()


@pytest.mark.parametrize("reason", REASONS)
def test_the_figures_list_the_checks_that_do_not_apply(reason: str) -> None:
    assert f"- {reason}: " in FIGURES.read_text("utf-8")


def test_an_invalid_message_is_never_excused() -> None:
    assert reason_against("tasks-lifecycle", "tasks-created") is not None
    assert reason_against("tasks-lifecycle", "wire-schema-valid") is None
    assert reason_against("tools-list", "tools-list") is None
