"""A clinic of its own for each test, on a Monday in March, with the demonstration's families."""

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest
from tools_md._clinic.clock import StoppedClock
from tools_md._clinic.seed import seed
from tools_md._clinic.store import Clinic

MONDAY = datetime.fromisoformat("2026-03-02T08:00")


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(MONDAY)


@pytest.fixture
def empty_clinic(tmp_path: Path, clock: StoppedClock) -> Iterator[Clinic]:
    clinic = Clinic(tmp_path / "state" / "clinic.sqlite3", clock)
    yield clinic
    clinic.close()


@pytest.fixture
def clinic(empty_clinic: Clinic) -> Clinic:
    seed(empty_clinic, date(2026, 3, 2))
    return empty_clinic
