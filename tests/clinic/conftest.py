"""A clinic of its own for each test, on a Monday in March, with the demonstration's families."""

import shutil
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from threading import Thread

import pytest
from tools_md._clinic.clock import StoppedClock
from tools_md._clinic.insurer import ELIGIBILITY_URL, EligibilityService, make_server
from tools_md._clinic.seed import seed
from tools_md._clinic.store import FILE, NOW, Clinic

from toolmd import Workspace

ROOT = Path(__file__).parents[2]
MONDAY = "2026-03-02T08:00"


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(datetime.fromisoformat(MONDAY))


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database with the demonstration's families; a copy spares each test the seeding."""
    file = tmp_path_factory.mktemp("seeded") / FILE
    clinic = Clinic(file, StoppedClock(datetime.fromisoformat(MONDAY)))
    seed(clinic, date(2026, 3, 2))
    clinic.close()
    return file


@pytest.fixture
def empty_clinic(tmp_path: Path, clock: StoppedClock) -> Iterator[Clinic]:
    clinic = Clinic(tmp_path / "state" / FILE, clock)
    yield clinic
    clinic.close()


@pytest.fixture
def clinic(tmp_path: Path, clock: StoppedClock, seeded: Path) -> Iterator[Clinic]:
    (state := tmp_path / "state").mkdir(exist_ok=True)
    clinic = Clinic(Path(shutil.copy(seeded, state)), clock)
    yield clinic
    clinic.close()


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


@pytest.fixture
def insurer() -> Iterator[EligibilityService]:
    """Run the demonstration's insurer in a thread."""
    with make_server(0) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield EligibilityService(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()
