"""The process dies anywhere, and the children are booked once and the parent texted once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest
from tests import warm_python
from tools_md._clinic.clock import StoppedClock
from tools_md._clinic.seed import seed
from tools_md._clinic.store import FILE, NOW, Clinic

MONDAY = "2026-03-02T08:00"
SCRIPT = Path(__file__).parent / "clinic_process.py"
BOUNDARIES = (
    "after check_availability",
    "before book_appointment",
    "after book_appointment",
    "after send_confirmation_sms",
    "at the end",
)
"""Where the process is killed here; `make crash` kills it at every boundary, many times."""


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Clinic]:
    clinic = Clinic(tmp_path / FILE, StoppedClock(datetime.fromisoformat(MONDAY)))
    seed(clinic, date(2026, 3, 2))
    yield clinic
    clinic.close()


def process(state: Path, boundary: str, run_id: str = "run-1") -> int:
    environment = {**os.environ, NOW: MONDAY}
    environment.pop("TOOLMD_STORE", None)
    words = [sys.executable, str(SCRIPT), str(state), run_id, boundary]
    return warm_python.run(words, env=environment, timeout=120, check=False).returncode


def booked(clinic: Clinic) -> list[str]:
    visits = clinic.bookings.history("P-1001", limit=50)
    wanted = "2026-03-04T08:00:00"
    return [visit["status"] for visit in visits if visit["datetime"] == wanted]


def test_a_run_killed_at_one_boundary_after_the_other_ends_as_if_it_had_not_been(
    clinic: Clinic, tmp_path: Path
) -> None:
    for boundary in BOUNDARIES:
        assert process(tmp_path, boundary) == -signal.SIGKILL, boundary
    assert process(tmp_path, "nowhere") == 0

    assert booked(clinic) == ["booked"]
    assert len(clinic.outbox.messages()) == 1


def test_the_next_process_resumes_a_run_next_to_its_own_task(
    clinic: Clinic, tmp_path: Path
) -> None:
    assert process(tmp_path, "after book_appointment") == -signal.SIGKILL
    # Another family's run: the parent's text of the first run must go out meanwhile.
    environment = {**os.environ, NOW: MONDAY, "TOOLMD_STORE": "sqlite"}
    environment["TOOLMD_STATE"] = str(tmp_path)
    command = [sys.executable, "-m", "toolmd", "worker"]
    worker = warm_python.Popen(
        command, cwd=SCRIPT.parents[2], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        for _ in range(600):
            if clinic.outbox.messages():
                break
            with pytest.raises(subprocess.TimeoutExpired):
                worker.wait(0.1)
    finally:
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=60)

    assert worker.returncode == 0
    assert booked(clinic) == ["booked"]
    assert len(clinic.outbox.messages()) == 1
