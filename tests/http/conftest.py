"""The kiosk of a test, its operator and its two guests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from kiosk import GUESTS, Kiosk, copied


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the project that the test may change."""
    return copied(tmp_path)


@pytest.fixture
def kiosk(project: Path) -> Iterator[Kiosk]:
    with Kiosk(project) as open_:
        yield open_


@pytest.fixture
def api(kiosk: Kiosk) -> Iterator[httpx.Client]:
    """The operator's client."""
    with kiosk.client() as client:
        yield client


@pytest.fixture
def guest(kiosk: Kiosk) -> Iterator[Callable[..., httpx.Client]]:
    """Make the client of a guest, with headers of its own."""
    opened: list[httpx.Client] = []

    def make(user: str, **headers: str) -> httpx.Client:
        opened.append(kiosk.client(GUESTS[user], **headers))
        return opened[-1]

    yield make
    for client in opened:
        client.close()
