"""The demonstration shows the main job, whatever day it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("now", ["2026-02-27T23:59", "2026-03-05T08:00", "2028-12-30T00:00"])
def test_the_demonstration_shows_the_main_job(now: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "demo" / "main_job.py"],
        env=os.environ | {"CLINIC_NOW": now, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "error[unknown-type] unknown type 'strng'" in done.stdout
    assert "denied[invalid_arguments]" in done.stdout
    assert "Schedule Appointment: done." in done.stdout
    assert "your visit is booked" in done.stdout
    assert "stopped: No slots in the evening" in done.stdout
