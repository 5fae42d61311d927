"""A project of its own for each test."""

from pathlib import Path

import pytest
from bind_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
