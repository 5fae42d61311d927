"""Problems of Python or the disk are found by `doctor` and named by the first affected command."""

import json
import re
import sqlite3
import sys
from contextlib import closing
from importlib.metadata import requires

import pytest
from tests.command import apart

OLD_SQLITE = (
    "import sqlite3, sys\n"
    "sqlite3.sqlite_version_info = (3, 34, 1)\n"
    "from toolmd._cli.main import main\n"
    "sys.exit(main(sys.argv[1:]))"
)
"""A Python whose SQLite says that it is as old as that of some systems."""


@pytest.mark.parametrize("words", ["run trial text=x", "pending"])
def test_a_sqlite_that_is_too_old_is_named_by_the_first_command_that_needs_it(
    project, words: str
) -> None:
    assert project("call", "say_hello", "name=Ana").code == 0
    assert project("new", "skill", "trial").code == 0

    done = apart(
        project.folder, sys.executable, "-c", OLD_SQLITE, *words.split(), TOOLMD_STORE="sqlite"
    )

    assert done.returncode != 0
    assert "has SQLite 3.34.1, and Toolmd stores its records with 3.37.0 or later" in done.stderr
    assert "install Toolmd with another Python" in done.stderr
    assert "damaged" not in done.stderr


def test_commands_without_sqlite_work_with_an_old_one(project) -> None:
    done = apart(project.folder, sys.executable, "-c", OLD_SQLITE, "check")

    assert (done.returncode, done.stderr) == (0, "All well: 1 tool, 0 skills.\n")


def test_the_doctor_finds_a_sqlite_that_is_too_old(project) -> None:
    done = apart(
        project.folder, sys.executable, "-c", OLD_SQLITE, "doctor", "--json", TOOLMD_STORE="sqlite"
    )

    bad = {sign["about"]: sign for sign in json.loads(done.stdout) if sign["state"] == "bad"}
    assert set(bad) == {"sqlite", "store"}
    assert bad["sqlite"]["remedy"].startswith("install Toolmd with another Python")
    assert done.returncode == 1


def test_the_doctor_tries_the_store(project) -> None:
    """A disk on which no file may grow, as it is full: what SQLite's version does not tell."""
    assert project("list").code == 0
    doctor = (sys.executable, "-m", "toolmd", "doctor", "--json")

    well = apart(project.folder, *doctor, TOOLMD_STORE="sqlite")
    full = apart(
        project.folder,
        *("bash", "-c", f"set -o pipefail; ulimit -f 8; {' '.join(doctor)} | cat"),
        TOOLMD_STORE="sqlite",
    )

    found = [
        next(sign for sign in json.loads(done.stdout) if sign["about"] == "store")
        for done in (well, full)
    ]
    assert [sign["state"] for sign in found] == ["ok", "bad"]
    assert found[0]["found"].endswith("store.sqlite3 can be used")
    assert "see `state`" in found[1]["remedy"]


def test_the_doctor_names_a_store_of_another_release(project) -> None:
    assert project("list").code == 0
    with closing(sqlite3.connect(project.folder / ".toolmd" / "store.sqlite3")) as store:
        store.execute("PRAGMA user_version = 3")

    done = apart(
        project.folder, sys.executable, "-m", "toolmd", "doctor", "--json", TOOLMD_STORE="sqlite"
    )

    (sign,) = (sign for sign in json.loads(done.stdout) if sign["about"] == "store")
    assert sign["state"] == "bad"
    assert "were stored by an older release of Toolmd" in sign["found"]


def test_the_doctor_names_each_package_that_toolmd_requires(project) -> None:
    required = [one for one in requires("toolmd") or [] if "extra ==" not in one]

    signs = [sign["about"] for sign in json.loads(project("doctor", "--json").out)]

    assert required
    assert {re.split(r"[^\w.-]", one, maxsplit=1)[0] for one in required} <= {*signs}


def test_the_doctor_counts_the_edits_that_wait_for_acceptance(project) -> None:
    file = project.folder / "tools_md" / "say-hello.tool.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("- **Category**", "- **Requires Auth**: true\n- **Category**"))
    assert project("list").code == 0
    file.write_text(text, encoding="utf-8")

    signs = json.loads(project("doctor", "--json").out)

    (waiting,) = [sign for sign in signs if sign["about"] == "changes"]
    assert waiting["state"] == "note"
    assert waiting["found"] == "1 pending edit that would weaken a policy"
    assert waiting["remedy"] == "`toolmd accept` lists them"
