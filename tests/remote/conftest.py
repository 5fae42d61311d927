"""One echo service for the tests of a process, empty before each test."""

from collections.abc import Iterator

import pytest
from echo_service import EchoService


@pytest.fixture(scope="session")
def _opened() -> Iterator[EchoService]:
    with EchoService().open() as service:
        yield service


@pytest.fixture
def service(_opened: EchoService) -> EchoService:
    _opened.received.clear()
    return _opened
