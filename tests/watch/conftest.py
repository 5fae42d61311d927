"""Give each test a shop of its own, and close what it opened."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from watched_shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.close()
