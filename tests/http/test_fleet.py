"""The fleet over HTTP: workers, queue, schedules, and the use of limits."""

import os
import time
from pathlib import Path

import httpx
from kiosk import Kiosk

from toolmd import Workspace
from toolmd._store.store import Store

DEADLINE_S = 10.0
PAUSE = """# Pause

Wait, and say so.

## Metadata

- **Name**: pause
- **Version**: 1.0.0
- **Category**: test
- **Durable**: yes
- **Schedule**: every 1h

## Workflow

1. **Rest** a while.
   - **Wait**: 2h

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""
LIMITS = """
## Limits

- **Rate**: 5 per minute
- **Max Calls**: 9
- **Max Concurrent**: 2
"""


def running(api: httpx.Client, calls: int) -> None:
    """Wait until so many calls of `echo` run: a place is released soon after its call."""
    ends = time.monotonic() + DEADLINE_S
    while [
        limit["running"]
        for limit in api.get("/api/fleet").json()["limits"]
        if limit["tool"] == "echo"
    ] != [calls]:
        assert time.monotonic() < ends


def test_the_fleet_is_read_from_the_store(project: Path) -> None:
    with (project / "tools_md" / "echo.tool.md").open("a", encoding="utf-8") as tool:
        tool.write(LIMITS)
    (project / "skills_md" / "pause.skill.md").write_text(PAUSE, "utf-8")
    with Kiosk(project, "sqlite") as kiosk, kiosk.client() as api:
        unused = api.get("/api/fleet").json()
        assert (unused["workers"], unused["queue"]) == ([], {"waiting": 0, "since": None})
        kiosk.workspace.run_sync("pause")
        for _ in range(2):
            called = kiosk.workspace.call_sync("echo", {"value": {}}, user="ana", conversation="c1")
            assert called.success
        running(api, 0)
        fleet = api.get("/api/fleet").json()

    (worker,) = fleet["workers"]
    assert f"-{os.getpid()}-" in worker["name"]
    assert (worker["alive"], worker["runs"]) == (True, 0)
    assert fleet["runs"] == {"waiting": 1}
    (limit,) = (one for one in fleet["limits"] if one["tool"] == "echo")
    assert (limit["rate"], limit["max_concurrent"], limit["running"]) == ("5 in 60 s", 2, 0)
    assert limit["quotas"] == ["9 calls per conversation ever"]
    assert limit["last"] > 0
    (schedule,) = fleet["schedules"]
    assert (schedule["skill"], schedule["schedule"]) == ("pause", "every 3600s")


def test_a_server_that_toolmd_guards_and_a_durable_skill_share_a_store(project: Path) -> None:
    store = Store("sqlite", project / ".toolmd")
    assert store.pins.of("notes") == {}
    store.close()
    (project / "skills_md" / "pause.skill.md").write_text(PAUSE, "utf-8")
    with Workspace.open(project, overrides={"store": "sqlite"}) as workspace:
        assert workspace.run_sync("pause").outcome == "waiting"
