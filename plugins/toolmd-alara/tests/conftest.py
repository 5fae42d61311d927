"""A workspace with ALARA's tools and a fixed clock."""

import asyncio
from datetime import datetime, timedelta, timezone

import pytest

from toolmd.testing import FakeClock, memory_workspace
from toolmd_alara.log import HealthLog, Zone
from toolmd_alara.plugin import Alara

AHEAD = timezone(timedelta(hours=1))
MORNING = datetime(2026, 3, 2, 8, 0, tzinfo=AHEAD)
"""A Monday, an hour ahead of UTC."""


@pytest.fixture
def clock():
    return FakeClock(MORNING)


@pytest.fixture
def workspace(clock):
    with memory_workspace({"none.txt": ""}, plugins={"alara": Alara(clock, Zone(AHEAD))}) as opened:
        yield opened


@pytest.fixture
def call(workspace):
    """Call a tool as a careful model does that was asked for it."""

    def go(tool, arguments, **options):
        words = [ASKED.get(tool, "")]
        if "care_log" in tool:
            words += [str(arguments.get(name, "")) for name in ("title", "notes")]
        said = {"confidence": 0.95, "message": " ".join(words), "user": "ana"}
        return asyncio.run(workspace.call(tool, arguments, **{**said, **options}))

    return go


@pytest.fixture
def log(tmp_path, clock):
    opened = HealthLog(tmp_path / "alara.sqlite3", clock, Zone(AHEAD))
    yield opened
    opened.close()


ASKED = {
    "schedule_reminder": "Remind me to take my medication.",
    "log_doctor_visit": "I went to the doctor.",
    "add_clinical_date": "My blood test is next week.",
    "add_care_log": "I went to the hospital for a checkup.",
    "log_medication": "I took my aspirin, 1 tablet, with my morning medication.",
    "create_care_log": "I went to the hospital yesterday for a checkup.",
    "change_reminder": "Move my reminder to ten.",
    "snooze_reminder": "Remind me again in a quarter of an hour.",
    "end_reminder": "Stop reminding me of that.",
}
