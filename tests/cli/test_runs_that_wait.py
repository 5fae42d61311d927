"""Runs that wait for a time, as the command line and the console show them."""

import datetime as dt
import json
import re
import time

import pytest
from tests.definitions import skill

WATER = skill(
    "water_flowers",
    "count_flowers",
    """1. **Count** them later.
   - **Wait**: `duration(after)`
   - **Use**: count_flowers
   - **With**:
     - kinds: `["rose"]`
   - **Save as**: stock
2. **Return**:
   - stock: `stock`""",
    "- `after` (string, required): How much later.",
)


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


def test_a_run_is_scheduled_listed_and_cancelled(shop) -> None:
    started = shop("run", "water_flowers", "after=1s", "--at", "in 2h")
    assert started.code == 0, started.err
    run_id = started.out.strip()

    assert re.search(rf"{run_id} +water_flowers +scheduled +\d{{4}}-.*Starts at", shop("runs").out)
    assert shop("runs", "cancel", run_id).code == 0
    assert json.loads(shop("runs", "show", run_id, "--json").out)["state"] == "cancelled"


def test_a_run_that_starts_now_is_left_to_a_worker(shop) -> None:
    run_id = shop("run", "water_flowers", "after=1ms", "--at", "now").out.strip()
    ends = time.monotonic() + 60
    while json.loads(shop("runs", "resume", run_id, "--json").out)["outcome"] != "ok":
        assert time.monotonic() < ends


@pytest.mark.parametrize("at", ["2h", "in two hours", "tomorrow", "25:00", "in 0s", " "])
def test_an_unreadable_time_is_a_usage_error(shop, at: str) -> None:
    started = shop("run", "water_flowers", "after=1s", "--at", at)

    assert started.code == 2
    assert "--at can't be read" in started.err


def test_a_time_in_the_past_is_a_usage_error(shop) -> None:
    started = shop("run", "water_flowers", "after=1s", "--at", "2020-01-01T00:00Z")

    assert (started.code, "in the past" in started.err) == (2, True)


def test_invalid_inputs_are_denied_when_the_run_is_scheduled(shop) -> None:
    assert shop("run", "water_flowers", "--at", "in 2h").code == 3
    assert shop("run", "nothing", "--at", "in 2h").code == 5


def test_a_run_can_only_be_scheduled_where_it_is_kept(shop, monkeypatch) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "memory")

    started = shop("run", "water_flowers", "after=1s", "--at", "in 2h")
    assert (started.code, "ends with this process" in started.err) == (2, True)


@pytest.mark.parametrize("at", ["2999-05-04T18:30", "2999-05-04 18:30+02:00", "2999-05-04"])
def test_a_time_is_local_unless_it_has_a_zone(shop, at: str) -> None:
    run_id = shop("run", "water_flowers", "after=1s", "--at", at).out.strip()

    began = dt.datetime.fromisoformat(
        json.loads(shop("runs", "show", run_id, "--json").out)["began"]
    )
    assert began == dt.datetime.fromisoformat(at).astimezone()
