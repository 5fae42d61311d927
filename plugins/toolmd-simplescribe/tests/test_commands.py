"""`toolmd-simplescribe`, as an operator types it."""

import json
import os
import sys
from pathlib import Path

import pytest
from tests import warm_python

import toolmd_simplescribe

SOURCES = Path(toolmd_simplescribe.__file__).parents[1]
"""The package need not be installed to be tested."""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "toolmd.toml").write_text("", encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(project):
    def go(*words, given=None):
        command = [sys.executable, "-c", "from toolmd_simplescribe.commands import main; main()"]
        return warm_python.run(
            [*command, *words],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(SOURCES)},
            input=given,
            capture_output=True,
            check=False,
        )

    return go


@pytest.fixture
def file(project, make):
    def write(name, *resources):
        path = project / name
        path.write_bytes(make.bundle(*resources))
        return name

    return write


def test_files_are_loaded_and_omissions_are_reported(run, file, make):
    name = file("a.json", make.patient(), make.lab(), make.lab(status="registered"))
    done = run("load", name)
    assert done.returncode == 0
    assert done.stdout.decode().splitlines() == [
        "a.json: 2 added",
        "  items: 1 labs",
        "  about: 123 (2)",
        "  left out, its status is registered: 1 (Observation/observation-3)",
    ]
    assert done.stderr == b""


def test_a_bad_file_is_reported_and_the_others_are_loaded(run, file, make, project):
    (project / "bad.json").write_text("{", encoding="utf-8")
    done = run("load", "bad.json", file("a.json", make.lab()), "none.json", "--json")
    assert done.returncode == 1
    bad, good, none = json.loads(done.stdout)["files"]
    assert bad["error"].startswith("it is not JSON")
    assert good["resources"] == {"added": 1}
    assert none["error"] == "No such file or directory"
    assert b"bad.json: not loaded: it is not JSON" in done.stderr
    assert b"Traceback" not in done.stderr


def test_notes_are_indexed_for_one_or_for_all(run, file, make):
    # Loading indexes, too.
    run("load", file("a.json", make.note(), make.note(patient="456")))
    assert run("index", "123").stdout == b"123: 0 indexed, 1 were, 0 removed\n"
    assert run("index", "--all").stdout == (
        b"123: 0 indexed, 1 were, 0 removed\n456: 0 indexed, 1 were, 0 removed\n"
    )
    assert run("index").returncode == 2
    assert run("index", "123", "--all").returncode == 2
    nobody = run("index", "nobody")
    assert nobody.returncode == 5
    assert nobody.stderr == b"error: no records are loaded for patient 'nobody'\n"


def test_patients_are_listed_and_forgotten(run, file, make):
    assert run("patients").stdout == b"The store is empty.\n"
    run("load", file("a.json", make.lab()))
    assert run("patients").stdout.startswith(b"123: 1 labs, 0 vitals, ")
    assert run("forget", "123").stdout == b"Forgot 123.\n"
    assert run("forget", "123").returncode == 5
