"""The demonstration shows the main job, whatever day it is."""

import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import warm_python

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("now", ["2026-02-27T23:59", "2028-12-30T00:00"])
def test_the_demonstration_shows_the_main_job(now: str) -> None:
    done = warm_python.run(
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
    assert re.search(r"^Done in \d+ seconds\.$", done.stdout, re.MULTILINE)


def test_the_demonstration_includes_the_installation_in_its_time() -> None:
    took = runpy.run_path(str(ROOT / "demo" / "main_job.py"))["took"]
    now = time.time()

    assert re.fullmatch(
        r"Done in 12\d seconds: 100 to install, 2\d to show\.", took(now - 20, now - 120)
    )
    assert re.fullmatch(r"Done in 2\d seconds\.", took(now - 20, now - 21))


def test_make_passes_its_start_time_to_the_demonstration() -> None:
    before = int(time.time())
    words = ["make", "--dry-run", "--no-print-directory", "demo"]
    told = warm_python.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    began = re.search(r"main_job\.py (\d+)$", told, re.MULTILINE)
    assert began is not None
    assert before <= int(began[1]) <= time.time()
