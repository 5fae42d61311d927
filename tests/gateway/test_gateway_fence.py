"""A server's process reaches only what its table allows, where the system can enforce it."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from guarded import Guarded, called

from toolmd._remote.fence import Fence, fenced, lacking
from toolmd.config import load_settings
from toolmd.errors import ConfigError

TABLE = """folders = ["server", "docs:read"]
hosts = []
start_timeout = 120
"""
WHOLE = Fence((), network=False)
needs_fence = pytest.mark.skipif(bool(lacking(WHOLE)), reason=f"no fence here: {lacking(WHOLE)}")


@needs_fence
def test_a_fenced_server_reaches_only_its_folders_and_no_network(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("secret", encoding="utf-8")
    project = Guarded(
        tmp_path / "p", "reach", table='folders = ["server", "docs:read"]\nhosts = []'
    )
    docs = project.root / "docs"
    docs.mkdir()
    (docs / "page.md").write_text("page", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as listening, project.open() as workspace:
        port = listening.getsockname()[1]

        def reach(what: str) -> str:
            result = called(workspace, "reach", text=what)
            return str(result.data or result.error)

        found = {
            "own folder": reach(f"write {project.files / 'new.txt'}"),
            "readable": reach(f"read {docs / 'page.md'}"),
            "only readable": reach(f"write {docs / 'new.md'}"),
            "project": reach(f"read {project.root / 'toolmd.toml'}"),
            "outside": reach(f"read {outside}"),
            "network": reach(f"connect {port}"),
        }

    assert found.pop("network") != "reached"
    assert found == {
        "own folder": "reached", "readable": "reached", "only readable": "PermissionError",
        "project": "PermissionError", "outside": "PermissionError",
    }  # fmt: skip


def test_an_open_fence_changes_no_command(tmp_path: Path) -> None:
    assert fenced(("program", "a"), Fence(), tmp_path, {}) == ("program", "a")


@needs_fence
def test_a_folder_that_does_not_exist_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="its folder nowhere does not exist"):
        fenced(("program",), Fence(("nowhere",)), tmp_path, {})


@needs_fence
def test_children_of_a_fenced_program_are_fenced_too(tmp_path: Path) -> None:
    program = "import subprocess as s, sys; sys.exit(s.run(['touch', sys.argv[1]]).returncode)"
    command = (sys.executable, "-S", "-c", program, str(tmp_path / "new"))
    done = subprocess.run(
        fenced(command, Fence(()), tmp_path, {}), check=False, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert "Permission denied" in done.stderr


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('folders = "data"', "folders must be texts"),
        ('hosts = ["example.com"]', "hosts must be []"),
        ('url = "https://x.example"\nfolders = []', "belongs to a server with command"),
    ],
)
def test_a_fence_that_can_not_be_enforced_is_an_error(
    tmp_path: Path, table: str, said: str
) -> None:
    command = "" if "url" in table else f"command = {json.dumps(['a'])}\n"
    (tmp_path / "toolmd.toml").write_text(f"[servers.plain]\n{command}{table}\n")

    with pytest.raises(ConfigError) as raised:
        load_settings(tmp_path)

    assert said in str(raised.value)
