"""`toolmd import catalog` as people type it, with the package installed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

CATALOGS = Path(__file__).parent / "catalogs"
CATALOG = """# Tools

## find_roses(color: string, most?: int = 5)

Find roses of a color (read-only).

## cut_roses

Cut roses.

Params:
- count: integer, 1-50
"""


class Typed(NamedTuple):
    """A command's output and exit status."""

    out: str
    err: str
    code: int


def typed(folder: Path, *words: str, stdin: bytes = b"") -> Typed:
    done = subprocess.run(
        [sys.executable, "-m", "toolmd", *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "toolmd-catalog"},
    )
    return Typed(done.stdout.decode(), done.stderr.decode(), done.returncode)


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    """Make a project with a catalogue in it."""
    (tmp_path / "toolmd.toml").write_text("", "utf-8")
    (tmp_path / "catalog.md").write_text(CATALOG, "utf-8")
    return tmp_path


def test_drafts_land_in_the_projects_folder_and_check(garden: Path) -> None:
    done = typed(garden, "import", "catalog", "catalog.md")

    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "made tools_md/find-roses.tool.md",
        "made tools_md/cut-roses.tool.md",
    ]
    assert "note: line 12: cut_roses.count: not marked" in done.err
    assert "Next: review the drafts, then run toolmd check" in done.err
    shown = json.loads(typed(garden, "show", "find_roses", "--json").out)
    assert shown["read_only"] is True
    assert shown["input_schema"]["required"] == ["color"]


def test_the_drafts_of_whole_catalogues_are_canonical(garden: Path) -> None:
    for file in sorted(CATALOGS.glob("*.md")):
        done = typed(garden, "import", "catalog", str(file))
        assert done.code == 0, done.err

    assert typed(garden, "fmt", "--check").code == 0
    found = json.loads(typed(garden, "check", "--json").out)
    assert [d for d in found if d["severity"] == "error"] == []


def test_notes_stand_next_to_the_files_in_json(garden: Path) -> None:
    done = typed(garden, "import", "catalog", "catalog.md", "--json", "--out", "drafts")
    told = json.loads(done.out)

    assert told["written"] == ["drafts/find-roses.tool.md", "drafts/cut-roses.tool.md"]
    assert told["refused"] == []
    assert {
        "definition": "cut_roses",
        "path": "count",
        "text": "not marked, and nothing is optional here: required",
        "line": 12,
    } in told["notes"]


def test_a_catalogue_comes_from_standard_input_outside_of_any_project(tmp_path: Path) -> None:
    done = typed(tmp_path, "import", "catalog", "-", stdin=CATALOG.encode())

    assert done.code == 0, done.err
    assert (tmp_path / "tools_md/cut-roses.tool.md").read_text("utf-8").startswith("# Cut Roses\n")


@pytest.mark.parametrize(
    ("file", "code", "error"),
    [
        ("nowhere.md", 5, "nowhere.md: no such file"),
        ("latin.md", 1, "byte 4 is not UTF-8"),
        ("letter.md", 1, "Nothing was imported."),
        ("long.md", 1, "over 2,000,000 characters"),
    ],
)
def test_each_failure_states_its_cause(garden: Path, file: str, code: int, error: str) -> None:
    (garden / "latin.md").write_bytes(b"bouq\xfbet")
    (garden / "letter.md").write_text("Dear reader,\n", "utf-8")
    (garden / "long.md").write_text("rose " * 400_001, "utf-8")
    done = typed(garden, "import", "catalog", file)

    assert done.code == code
    assert error in done.err
    assert "made" not in done.out
