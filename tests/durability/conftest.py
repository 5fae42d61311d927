"""Where the runs of these tests are kept: a file of each test's own, and a real Postgres."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from kept import Kept
from postgres_server import database

from toolmd._store import STORE_FILE


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of runs with its tables and without runs; a copy spares each test a second."""
    state = tmp_path_factory.mktemp("empty")
    prepare(Kept(state))
    return state / STORE_FILE


@pytest.fixture(scope="session")
def empty_database(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Do as `empty_file`, on Postgres."""
    with database(server) as url:
        kept = Kept(tmp_path_factory.mktemp("empty"), url)
        prepare(kept)
        with psycopg.connect(url, autocommit=True) as connection:
            # The name of the process that ended would count as dead in each copy.
            connection.execute("DELETE FROM toolmd.worker")
        yield url


def prepare(kept: Kept) -> None:
    """Have the engine make its tables."""
    kept.engine.start()
    kept.close()


@pytest.fixture
def postgres(server: str, empty_database: str) -> Iterator[str]:
    """A separate database for a test."""
    with database(server, empty_database) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The setting `store`: each test is run on both."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("empty_file"), tmp_path)
        return "sqlite"
    url: str = request.getfixturevalue("postgres")
    return url


@pytest.fixture
def kept(tmp_path: Path, place: str) -> Iterator[Kept]:
    """A world whose runs are kept."""
    kept = Kept(tmp_path, place)
    yield kept
    kept.close()
