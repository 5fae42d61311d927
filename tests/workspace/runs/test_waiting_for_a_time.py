"""Runs that wait for a time, for hosts: their results, their turns, and a fake clock."""

import datetime as dt
import json

from toolmd import Workspace
from toolmd._mcp.results import denial
from toolmd._types.result import Result
from toolmd.testing import FakeClock, memory_workspace

START = dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC)
SKILL = """# Later

Wait, and say so.

## Metadata

- **Name**: later
- **Version**: 1.0.0
- **Category**: test

## Workflow

1. **Wait** a while.
   - **Wait**: `duration(after)`
2. **Return**: Done.
   - at: `string(now())`

## Input Schema

- `after` (string, required): How long.

## Output Schema

- **Type**: object (SkillResult)
"""


def opened(clock: FakeClock) -> Workspace:
    """Open a workspace with a skill that waits."""
    return memory_workspace({"later.skill.md": SKILL}, clock=clock)


def test_a_fake_clock_ends_a_wait() -> None:
    clock = FakeClock(START)
    with opened(clock) as workspace:
        waiting = workspace.run_sync("later", {"after": "2h"})
        assert (waiting.outcome, waiting.success, waiting.error) == ("waiting", False, None)
        assert waiting.message == "Waits until 2026-03-02 11:00:00 UTC."
        assert (waiting.waiting, waiting.confirmation) == ((), None)
        assert workspace.confirmations.pending_sync() == ()
        clock.advance(2 * 60 * 60)
        result = workspace.runs.resume_sync(waiting.run_id or "")

    assert (result.outcome, result.message) == ("ok", "Done.")


def test_a_model_that_starts_a_wait_has_nothing_pending() -> None:
    call = {"id": "c", "tool": "later", "parameters": {"after": "2h"}}
    with opened(FakeClock(START)) as workspace:
        turn = workspace.handle_sync(f"[TOOL_CALL:{json.dumps(call)}]", "inline")

    assert [result.outcome for result in turn.results] == ["waiting"]
    assert turn.pending == ()


def test_a_run_is_scheduled_by_python_in_local_time() -> None:
    clock = FakeClock(START)
    at = START + dt.timedelta(hours=2)
    local = at.astimezone().replace(tzinfo=None)
    with opened(clock) as workspace:
        scheduled = workspace.run_sync("later", {"after": "0s"}, at=local)
        assert scheduled.message == "Starts at 2026-03-02 11:00:00 UTC."
        (view,) = workspace.runs.list_sync()
        assert (view.state, view.began) == ("scheduled", at.isoformat())
        clock.advance(2 * 60 * 60)
        result = workspace.runs.resume_sync(view.id)

    assert result.data == {"at": "2026-03-02T11:00:00Z"}


def test_an_mcp_client_is_told_that_a_run_goes_on_by_itself() -> None:
    waits = Result(success=False, tool="later", outcome="waiting", message="Waits until noon.")
    answer = denial(waits)

    assert answer["structuredContent"]["error"]["code"] == "waiting"
    assert "It goes on by itself" in answer["content"][0]["text"]
