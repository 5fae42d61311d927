"""One Postgres for all tests that need one."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of one Postgres for all test processes."""
    from tests.durability.postgres_server import shared_server

    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with shared_server(folder / "postgres") as url:
        yield url
