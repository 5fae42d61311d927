"""The main job: the dental clinic, from markdown to result."""

import shutil

import pytest
from conftest import CLINIC, Project


@pytest.fixture
def clinic(tmp_path) -> Project:
    shutil.copytree(CLINIC, tmp_path / "clinic")
    return Project(tmp_path / "clinic")


def test_every_definition_is_valid(clinic) -> None:
    checked = clinic.toolmd("check")

    assert (checked.code, checked.err) == (0, "All well: 18 tools, 4 skills.\n")


def test_the_main_job_goes_to_its_end(clinic) -> None:
    done = clinic.python("demo/main_job.py")

    assert done.code == 0, done
    assert "Traceback" not in done.out + done.err


def test_the_examples_pass(clinic) -> None:
    tested = clinic.toolmd("test")

    assert tested.code == 0, tested
