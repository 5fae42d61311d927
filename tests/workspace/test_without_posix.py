"""Nothing that only POSIX has is needed: without these modules, a call and a reload work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ABSENT = ("fcntl", "grp", "pty", "pwd", "resource", "termios")
BLOCK = f"import sys\nfor name in {ABSENT}:\n    sys.modules[name] = None\n"
EVERY_MODULE = """
import importlib, pkgutil, toolmd
for found in pkgutil.walk_packages(toolmd.__path__, "toolmd."):
    # The MCP SDK itself wants fcntl, except on Windows; an adapter wants its framework.
    if not found.name.startswith(("toolmd.__main__", "toolmd._mcp.", "toolmd.adapters.")):
        importlib.import_module(found.name)
"""
CALL_AND_RELOAD = """
from pathlib import Path
from toolmd import Workspace
with Workspace.open(".") as workspace:
    tool = Path("tools_md/greet.tool.md")
    tool.write_text(tool.read_text().replace("1.0.0", "1.0.1"))
    workspace.reload()
    assert workspace.call_sync("greet", {}).data == {"said": "hello"}
"""


@pytest.fixture
def child(tmp_path):
    """Give what runs Python without these modules, in it and in what it starts."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text(BLOCK)

    def run(*words: str | Path, folder: Path = tmp_path) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(blocked), "TOOLMD_STORE": "memory"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


def test_every_module_a_call_and_a_reload_need_no_posix_modules(child, shop):
    shop.write("toolmd.toml", "plugins = []\n[audit]\nenabled = false\n")
    shop.tool("greet", 'def greet(): return {"said": "hello"}')

    child("-c", CALL_AND_RELOAD + EVERY_MODULE)
