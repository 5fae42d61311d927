"""The page of a run that waits for a time, or for its start."""

import datetime as dt

import httpx
from served_project import ServedProject

PAUSE = """# Pause

Wait, and say so.

## Metadata

- **Name**: pause
- **Version**: 1.0.0
- **Category**: test

## Workflow

1. **Rest** a while.
   - **Wait**: 2h
2. **Return**: Rested.

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""


def test_the_page_of_a_run_shows_its_wait_and_its_start(served: ServedProject) -> None:
    served.write("skills_md/pause.skill.md", PAUSE)
    served.workspace.reload()
    waits = served.workspace.run_sync("pause")
    later = dt.datetime(2999, 5, 4, 18, 30, tzinfo=dt.UTC)
    starts = served.workspace.run_sync("pause", at=later)
    with httpx.Client(
        base_url=served.url, headers={"authorization": f"Bearer {served.token}"}
    ) as c:
        waiting, scheduled = (c.get(f"/runs/{run.run_id}").text for run in (waits, starts))
        listed = c.get("/runs").text

    assert waits.message in waiting
    assert "wait 7200s" in waiting or ">wait<" in waiting
    for page, state in ((waiting, "waiting"), (scheduled, "scheduled")):
        assert f"standing is-{state}" in page
        assert "/cancel" in page
    assert "Starts at 2999-05-04 18:30:00 UTC." in scheduled
    assert "is-scheduled" in listed
