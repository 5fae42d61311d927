"""The kernel works without the folders of the interfaces, which register through hooks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tracked import ROOT

INTERFACES = ("_http", "_mcp", "_gateway", "_lsp", "_chat", "_fleet", "adapters")
SUITE = ("types", "validation", "dialect", "call/guards")
USE = '''
import toolmd
from toolmd.testing import memory_workspace

TOOL = """
# Greet

Greet someone.

## Metadata

- **Name**: greet
- **Version**: 1.0.0
- **Category**: talk

## Parameters

- **name**:
  - **Type**: string
  - **Required**: true
  - **Description**: The person

## Returns

- **Type**: string
- **Description**: The greeting
"""
with memory_workspace({"greet.tool.md": TOOL}, {"greet": lambda name: f"Hello {name}"}) as ws:
    print(ws.call_sync("greet", {"name": "Mia"}).data, toolmd.__file__)
'''


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """A copy of the framework without the interfaces."""
    left_out = shutil.ignore_patterns(*INTERFACES, "__pycache__")
    shutil.copytree(ROOT / "framework" / "toolmd", tmp_path / "toolmd", ignore=left_out)
    return tmp_path


def run(kernel: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the copy in front of the installed package."""
    return subprocess.run(
        (sys.executable, *words),
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(kernel), "TOOLMD_LOAD_PLUGINS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_call_runs_without_the_interfaces(kernel: Path) -> None:
    done = run(kernel, "-c", USE)

    assert done.stdout == f"Hello Mia {kernel / 'toolmd' / '__init__.py'}\n", done.stderr


@pytest.mark.slow
def test_suites_of_the_kernel_pass_without_the_interfaces(kernel: Path) -> None:
    folders = [f"tests/{name}" for name in SUITE]
    quick = ("-p", "no:cacheprovider", "--hypothesis-profile", "quick", "-m", "not slow")
    words = ("-m", "pytest", "-q", *quick, *folders)

    done = run(kernel, *words)

    assert done.returncode == 0, done.stdout[-4000:]
