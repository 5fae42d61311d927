"""A server or Toolmd is killed at each boundary of a call: no effect is doubled, none is hidden."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from guarded import Guarded, called
from tests import warm_python

ROUNDS = int(os.environ.get("GATEWAY_KILLS", "1"))
APPROVE = """\
import asyncio, sys
from toolmd import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    asyncio.run(workspace.confirmations.approve(sys.argv[2]))
"""
BOUNDARIES = ("list", "before", "after", "half", "answered")
"""While the tools are listed, before and after the effect, within the answer, and after it."""


def test_a_server_killed_at_any_boundary_doubles_no_effect_and_each_unknown_is_named(
    tmp_path: Path,
) -> None:
    project = Guarded(tmp_path / "p", "kill", more="## Limits\n\n- **Retries**: 3")
    outcomes: dict[str, set[str]] = {}
    with project.open() as workspace:
        for number in range(ROUNDS):
            for when in BOUNDARIES[1:]:
                result = called(workspace, "kill", text=f"server {when} {number}")
                outcomes.setdefault(when, set()).add(result.outcome)

    effects = project.lines("effects.txt")
    assert outcomes == {
        "before": {"unknown"}, "after": {"unknown"}, "half": {"unknown"}, "answered": {"ok"},
    }  # fmt: skip
    assert len(effects) == len(set(effects)) == 3 * ROUNDS


def test_a_tool_that_says_that_it_is_idempotent_is_called_again(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p")
    project.add("kill", more="## Limits\n\n- **Retries**: 2")
    file = project.root / "tools_md" / "kill.tool.md"
    text = file.read_text(encoding="utf-8")
    metadata = "- **Category**: general\n"
    file.write_text(text.replace(metadata, f"{metadata}- **Idempotent**: yes\n"), encoding="utf-8")
    project.serve({"name": "kill", "inputSchema": {"type": "object"}})
    with project.open() as workspace:
        result = called(workspace, "kill", text="server after")

    assert result.outcome == "failed"
    assert project.lines("effects.txt") == ["server after"] * 3


@pytest.mark.parametrize("when", BOUNDARIES)
def test_toolmd_killed_at_any_boundary_makes_no_approved_call_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    project = Guarded(tmp_path / "p", "kill", more="## Safety\n\n- **Requires Confirmation**: true")
    if when == "list":
        (project.files / "kill at list").touch()
    with project.open() as workspace:
        pending = called(workspace, "kill", text=f"client {when}").confirmation
        assert pending is not None
        command = [sys.executable, "-c", APPROVE, str(project.root), pending.id]
        killed = warm_python.run(command, check=False, capture_output=True, timeout=120)
        again = asyncio.run(workspace.confirmations.approve(pending.id))

    assert killed.returncode == -9
    assert (again.outcome, again.error and again.error.code) == ("denied", "confirmation_used")
    assert len(project.lines("effects.txt")) == (0 if when in {"list", "before"} else 1)
