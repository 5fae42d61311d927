"""A shop for each test, closed after it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from watched_shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.close()
