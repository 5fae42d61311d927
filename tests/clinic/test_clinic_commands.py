"""`toolmd clinic`, as it is typed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests import warm_python
from tools_md._clinic.store import FILE, NOW

ROOT = Path(__file__).parents[2]
TOOLMD = (sys.executable, "-m", "toolmd")


@pytest.fixture
def environment(tmp_path):
    return os.environ | {"TOOLMD_STATE": str(tmp_path), NOW: "2026-03-02T08:00"}


def typed(environment, *words, cwd=ROOT):
    done = warm_python.run(
        [*TOOLMD, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_seed_reports_the_added_rows_and_full_evenings(environment, tmp_path):
    status, told, _ = typed(environment, "clinic", "seed")
    assert status == 0
    assert told.splitlines() == [
        "Added 6 families and 11 visits.",
        "No room: the evening of 2026-03-05 is full.",
        "Closed:  2026-03-06.",
    ]
    assert (tmp_path / FILE).exists()
    assert json.loads(typed(environment, "clinic", "seed", "--json")[1]) == {
        "families": 0,
        "visits": 0,
        "full_evening": "2026-03-05",
        "closed_day": "2026-03-06",
    }


def test_seed_takes_a_day_and_a_project(environment, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = ("--project", str(ROOT), "clinic", "seed", "--today", "2026-05-04", "--json")
    status, told, said = typed(environment, *words, cwd=elsewhere)
    assert status == 0, said
    assert json.loads(told)["full_evening"] == "2026-05-07"


def test_the_outbox_shows_what_was_texted(environment):
    assert typed(environment, "clinic", "outbox")[1] == "The outbox is empty.\n"
    assert typed(environment, "clinic", "outbox", "--json")[1] == "[]\n"
    details = "appointment_details=9:00 AM on 2026-03-05 for Mia"
    sent = typed(environment, "call", "send_confirmation_sms", "phone_number=555-0142", details)
    assert sent[0] == 0, sent
    assert typed(environment, "clinic", "outbox")[1] == (
        "M-1 2026-03-02T08:00:00 kept 5550142: Jefferson Dental: your visit is booked, "
        "9:00 AM on 2026-03-05 for Mia. To change it call +1 214 555 0100.\n"
    )


@pytest.mark.parametrize("now", ["noon", "2026-03-02T08:00Z"])
def test_an_invalid_clock_setting_is_reported(environment, now):
    status, _, said = typed(environment | {NOW: now}, "clinic", "outbox")
    assert status == 2
    assert f"CLINIC_NOW='{now}'" in said


def test_the_insurer_answers_until_it_is_stopped(environment):
    with warm_python.Popen(
        [*TOOLMD, "clinic", "insurer", "--port", "0"],
        cwd=ROOT,
        env=environment | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as insurer:
        url = insurer.stdout.readline().strip()
        asked = {
            "insurance_provider": "Lone Star Dental",
            "member_id": "LSD-310077",
            "service_date": "2026-03-04",
        }
        with httpx.Client(trust_env=False) as http:
            assert http.post(f"{url}/eligibility", json=asked).json()["plan"] == "Basic"
        insurer.send_signal(signal.SIGINT)
        assert insurer.wait(timeout=20) == 0
