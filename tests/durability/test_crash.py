"""A short version of the harness, which `make crash` runs at length."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import warm_python

pytestmark = pytest.mark.slow
CRASH = Path(__file__).parent / "crash"


def measured(words: str) -> dict[str, Any]:
    """Return the measurements of a part of the harness, from a process that can fork."""
    parts = "boundaries, chaos, statements, takeover"
    script = f"import json, signal, {parts}\nprint(json.dumps({words}._asdict()))"
    done = warm_python.run(
        [sys.executable, "-c", script], cwd=CRASH, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_nothing_is_lost_or_done_twice_where_workers_are_killed_at_random(place: str) -> None:
    last = measured(f"[*chaos.rampage({place!r}, 9, 3, seed=3)][-1]")

    assert last.pop("seconds") > 0
    # The runs may end before the last of the three comes.
    assert last.pop("kills") > 0
    assert len(last.pop("taken")) == 4  # how many runs were taken over, and how late
    assert last == {
        "ended": 9,
        "failed": 0,
        "lost": 0,
        "booked_twice": 0,
        "texted_twice": 0,
    }


def test_nothing_is_lost_or_done_twice_where_the_file_was_torn_after_a_kill() -> None:
    last = measured("boundaries.tear(3, seed=5)")

    assert last.pop("seconds") > 0
    assert last == {"kills": 3, "lost": 0, "booked_twice": 0, "texted_twice": 0}


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
def test_nothing_is_lost_where_a_process_is_killed_between_two_statements(
    server: str, place: str
) -> None:
    where = "" if place == "sqlite" else server
    last = measured(f"[*statements.kill_everywhere({where!r}, range(1, 27, 4))][-1]")

    assert last["kills"] > 3
    assert (last["lost"], last["doubled"]) == (0, 0)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGSTOP"])
def test_a_killed_or_frozen_worker_is_replaced_and_nothing_is_done_twice(
    postgres: str, how: str
) -> None:
    taken = measured(f"takeover.take_over({postgres!r}, signal.{how})")

    assert (taken["booked"], taken["texted"]) == (1, 1)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_worker_that_is_asked_to_end_finishes_its_step_and_leaves_the_next(place: str) -> None:
    left = measured(f"takeover.retire({place!r})")

    assert left["code"] == 0
    assert (left["booked"], left["texted"]) == (1, 0)
    assert (left["booked_later"], left["texted_later"]) == (1, 1)


def test_a_run_that_kills_its_workers_waits_until_a_person_resumes_it() -> None:
    left = measured("boundaries.poison(13)")

    # The first of them came as far as this place, which counts as progress.
    assert left["codes"] == [-9] * 11 + [1, 1] + [0]
    assert (left["booked"], left["booked_later"]) == (0, 1)
