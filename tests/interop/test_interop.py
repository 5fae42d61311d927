"""What `make interop` needs, as far as it can be seen without the judges."""

from pathlib import Path

import pytest
from applies import REASONS, reason_against

from toolmd import Workspace

HERE = Path(__file__).parent
FIGURES = HERE.parents[1] / "docs" / "explanation" / "figures.md"


def test_the_tools_that_are_graded_have_no_mistake(tmp_path: Path) -> None:
    with Workspace.open(HERE / "project", overrides={"state": str(tmp_path)}) as workspace:
        assert workspace.diagnostics == ()


@pytest.mark.parametrize("reason", REASONS)
def test_the_figures_tell_what_does_not_apply_and_why(reason: str) -> None:
    assert f"- {reason}: " in FIGURES.read_text("utf-8")


def test_nothing_excuses_a_message_that_is_no_message_of_the_protocol() -> None:
    assert reason_against("tasks-lifecycle", "tasks-created") is not None
    assert reason_against("tasks-lifecycle", "wire-schema-valid") is None
    assert reason_against("tools-list", "tools-list") is None
