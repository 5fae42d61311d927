"""A clinic of its own for each test, on a Monday in March, with the demonstration's families."""

from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path

import pytest
from tools_md._clinic.clock import StoppedClock
from tools_md._clinic.insurer import ELIGIBILITY_URL
from tools_md._clinic.seed import seed
from tools_md._clinic.store import FILE, NOW, Clinic

from toolmd import Workspace

ROOT = Path(__file__).parents[2]
MONDAY = "2026-03-02T08:00"


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(datetime.fromisoformat(MONDAY))


@pytest.fixture
def empty_clinic(tmp_path: Path, clock: StoppedClock) -> Iterator[Clinic]:
    clinic = Clinic(tmp_path / "state" / FILE, clock)
    yield clinic
    clinic.close()


@pytest.fixture
def clinic(empty_clinic: Clinic) -> Clinic:
    seed(empty_clinic, date(2026, 3, 2))
    return empty_clinic


@pytest.fixture
def monday(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix the clock of a workspace at the time of `clinic`."""
    monkeypatch.setenv(NOW, MONDAY)
    monkeypatch.delenv(ELIGIBILITY_URL, raising=False)


@pytest.fixture
def workspace(clinic: Clinic, monday: None, tmp_path: Path) -> Iterator[Workspace]:
    """Open the project's own files with the database of `clinic`."""
    with Workspace.open(
        ROOT, overrides={"state": str(tmp_path / "state"), "plugins": []}
    ) as opened:
        yield opened
