"""A project with an audit, for its tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from audit_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    for store in made.stores:
        store.close()
