"""Each kind of store: the memory of this process, a file, and a real Postgres."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.durability.postgres_server import database

from toolmd._store import STORE_FILE
from toolmd._store.store import Store


@pytest.fixture
def postgres(server: str) -> Iterator[str]:
    """A separate database for a test."""
    with database(server) as url:
        yield url


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> str:
    """The setting `store`: each test is run on all three."""
    chosen: str = request.param
    return request.getfixturevalue("postgres") if chosen == "postgres" else chosen


@pytest.fixture(params=["sqlite", "postgres"])
def shared_place(request: pytest.FixtureRequest) -> str:
    """The setting `store` of processes that share it."""
    chosen: str = request.param
    return request.getfixturevalue("postgres") if chosen == "postgres" else chosen


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """Open stores in the folder of the test, and close them in the end."""
    stores = []

    def opened(place: str, **options: Any) -> Store:
        stores.append(Store(place, tmp_path, **options))
        return stores[-1]

    yield opened
    for one in stores:
        one.close()


@pytest.fixture
def store(place: str, open_store: Callable[..., Store]) -> Store:
    """A store of each kind."""
    return open_store(place)


@pytest.fixture
def change(tmp_path: Path) -> Callable[..., int]:
    """Change a row as another program does, such as to let its time pass."""

    def changed(store: Store, statement: str, *values: Any) -> int:
        if store.setting == "memory":
            with store.database.write() as tx:
                return tx.change(statement, *values)
        if store.setting == "sqlite":
            with closing(sqlite3.connect(tmp_path / STORE_FILE)) as other, other:
                return other.execute(statement, values).rowcount
        with psycopg.connect(store.setting, options="-c search_path=toolmd") as other:
            return other.execute(statement.replace("?", "%s"), values).rowcount

    return changed
