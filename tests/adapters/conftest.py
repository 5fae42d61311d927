"""The open shop of each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from shop import add_asking_skill, add_many, add_report, open_shop, write_shop

from toolmd import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    """Return the open shop."""
    folder = write_shop(tmp_path / "shop")
    add_asking_skill(folder)
    add_report(folder)
    add_many(folder)
    with open_shop(folder) as opened:
        yield opened
