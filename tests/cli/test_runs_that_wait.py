"""Runs that wait for a time, as the command line and the console show them."""

import json
import re
import time

import pytest

WATER = """# Water Flowers

Count the flowers, and count them again later.

## Metadata

- **Name**: water_flowers
- **Version**: 1.0.0
- **Category**: sales
- **Required Tools**: count_flowers

## Workflow

1. **Count** them later.
   - **Wait**: `duration(after)`
   - **Use**: count_flowers
   - **With**:
     - kinds: `["rose"]`
   - **Save as**: stock
2. **Return**:
   - stock: `stock`

## Input Schema

- `after` (string, required): How much later.

## Output Schema

- **Type**: object (SkillResult)
"""


@pytest.fixture(autouse=True)
def watered(shop, monkeypatch) -> None:
    """Keep the runs, of one more skill."""
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    shop.write("skills_md/water-flowers.skill.md", WATER)


def test_a_run_that_waits_tells_until_when_and_is_no_pending_call(shop) -> None:
    ran = shop("run", "water_flowers", "after=2h")
    run_id = re.search(r"run-[0-9a-f]+", ran.err)[0]
    assert ran.code == 0
    assert re.search(r"Waits until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.", ran.err)

    shown = shop("runs", "show", run_id).out
    assert re.search(rf"waits  {run_id}/1:wait  Waits until ", shown)
    assert "Waits until" in shop("runs").out
    assert json.loads(shop("pending", "--json").out) == []
    assert "not for an answer" in shop("confirm", f"{run_id}/1:wait").err
    assert json.loads(shop("runs", "show", run_id, "--json").out)["state"] == "waiting"


def test_the_json_of_a_run_that_waits_has_its_own_outcome(shop) -> None:
    result = json.loads(shop("run", "water_flowers", "after=2h", "--json").out)

    assert (result["outcome"], result["success"]) == ("waiting", False)
    assert "confirmation" not in result
    assert "error" not in result


def test_a_run_whose_time_has_come_is_resumed_or_cancelled(shop) -> None:
    short = json.loads(shop("run", "water_flowers", "after=10ms", "--json").out)["run_id"]
    ends = time.monotonic() + 60
    while (code := shop("runs", "resume", short).code) or "done" not in shop("runs").out:
        assert time.monotonic() < ends
    assert code == 0
    assert "1:wait  waited" in shop("runs", "show", short).out

    long = json.loads(shop("run", "water_flowers", "after=24h", "--json").out)["run_id"]
    assert shop("runs", "cancel", long).code == 0
    assert json.loads(shop("runs", "show", long, "--json").out)["state"] == "cancelled"


def test_the_graph_of_a_skill_shows_its_wait(shop) -> None:
    assert "wait until" in shop("graph", "water_flowers").out
