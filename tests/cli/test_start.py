"""The start of a command: heavy modules are imported only when they are needed."""

import json
import os
import subprocess
import sys

import pytest
from tests.command import run_command

from toolmd._cli.commands import Verbs

PARSING = {"markdown_it", "toolmd._parse", "yaml"}
SERVING = {"fastapi", "mcp", "pygls", "starlette", "uvicorn"}
ELSEWHERE = {
    "anthropic", "apprise", "httpx", "jsonschema", "numpy", "openai", "opentelemetry", "watchdog",
}  # fmt: skip
OPTIONS = {"pydantic", "typer._adapters"}
"""Modules with which Typer would read options."""
NOTHING_NEEDED = PARSING | SERVING | ELSEWHERE | OPTIONS | {"psycopg", "re2", "rich"}
"""Modules that a verb over a warm cache does without."""
SKILLS = {"toolmd._skills.engine"}
PROJECT = {"asyncio", "pydantic_core", "sqlite3", "toolmd._workspace"}
"""Modules that a verb needs only with a project."""
FORBIDDEN = {
    "--help": NOTHING_NEEDED | SKILLS | PROJECT | {"toolmd._cli.verbs.check"},
    "--version": NOTHING_NEEDED | SKILLS | PROJECT,
    "check --help": NOTHING_NEEDED | SKILLS | PROJECT,
    "rule": NOTHING_NEEDED | SKILLS | PROJECT,
    "plugins": NOTHING_NEEDED | SKILLS | {"asyncio"},
    "check": NOTHING_NEEDED | SKILLS | {"asyncio"},
    "list": (NOTHING_NEEDED | SKILLS | {"asyncio"}) - {"pydantic"},
    "show sell_flowers --json": (NOTHING_NEEDED | SKILLS | {"asyncio"}) - {"pydantic"},
    "call sell_flowers kind=rose number=2": NOTHING_NEEDED | SKILLS,
    "call sell_flowers kind=rose number=2 --confidence 0.9 --user ana --context shop=1 --json": (
        NOTHING_NEEDED | SKILLS
    ),
}
"""The modules that each command must not import on a warm cache."""
OPEN = """
import json, sys
from toolmd import Workspace
workspace = Workspace.open(".")
print(json.dumps([0, sorted(sys.modules)]), file=sys.__stderr__)
"""
OPEN_AND_CALL = """
import json, sys
from toolmd import Workspace
with Workspace.open(".") as workspace:
    code = not workspace.call_sync("sell_flowers", {"kind": "rose", "number": 2}).success
print(json.dumps([code, sorted(sys.modules)]), file=sys.__stderr__)
"""
COMMAND = """
import json, sys
from toolmd._cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.__stderr__)
"""


def imported(folder, *words: str, script: str = COMMAND) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "", "TOOLMD_STORE": "sqlite"},
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0
    return set(modules)


@pytest.mark.parametrize("words", FORBIDDEN)
def test_a_command_imports_only_what_it_needs(shop, words: str) -> None:
    shop("check")

    assert imported(shop.folder, *words.split()) & FORBIDDEN[words] == set()


def test_the_list_of_commands_has_the_first_sentence_of_each(tmp_path) -> None:
    listed = " ".join(run_command(tmp_path, "--help").out.split())
    for name, command in Verbs(name="toolmd").commands.items():
        first = command.help.partition("\n\n")[0].partition(". ")[0].removesuffix(".")
        assert f" {name} {' '.join(first.split())}." in listed


@pytest.mark.parametrize("script", [OPEN, OPEN_AND_CALL])
def test_a_program_with_tools_imports_nothing_of_skills_and_servers(shop, script: str) -> None:
    shop("check")

    assert imported(shop.folder, script=script) & (NOTHING_NEEDED | SKILLS) == set()


def completion(words: str) -> dict[str, str]:
    """Return the variables with which a shell asks for what may follow these words."""
    return {
        "TOOLMD_LOAD_PLUGINS": "",
        "_TOOLMD_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }


def test_names_are_completed_in_a_project(shop, tmp_path) -> None:
    def completed(folder, words: str) -> list[str]:
        return run_command(folder, **completion(words)).out.split()

    assert completed(shop.folder, "toolmd call se") == ["sell_flowers"]
    assert completed(shop.folder, "toolmd run make_b") == ["make_bouquet"]
    (outside := tmp_path / "outside").mkdir()
    (shop.folder / "toolmd.toml").rename(outside / "moved.toml")
    assert completed(outside, "toolmd call se") == []


def test_completion_imports_nothing_heavy(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "toolmd"], cwd=tmp_path,
        env={**os.environ, **completion("toolmd ex")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "export" in done.stdout
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert FORBIDDEN["--help"] & modules == set()


def test_a_file_without_front_matter_needs_no_yaml(tmp_path):
    script = (
        "import json, sys\n"
        "from toolmd._parse import parse_tool\n"
        "parse_tool('# Act\\n\\nActs.\\n', 'act.tool.md')\n"
        "print(json.dumps([0, sorted(sys.modules)]), file=sys.__stderr__)\n"
    )
    assert "yaml" not in imported(tmp_path, script=script)
