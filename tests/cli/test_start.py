"""The start of a command: heavy modules are imported only when they are needed."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = {
    "anthropic",
    "apprise",
    "asyncio",
    "httpx",
    "jsonschema",
    "markdown_it",
    "mcp",
    "openai",
    "pydantic",
    "pydantic_core",
    "pygls",
    "re2",
    "rich",
    "sqlite3",
    "sqlalchemy",
    "svcs",
    "dbos",
    "watchdog",
    "yaml",
}
FOR_SKILLS_AND_SERVERS = {
    "apprise", "croniter", "dateutil", "greenlet", "httpx", "jinja2", "mcp", "openai",
    "opentelemetry.sdk", "psycopg", "pygls", "pygments", "rich", "sqlalchemy", "starlette",
    "dbos", "uvicorn", "watchdog",
}  # fmt: skip
"""Modules that a call of a tool does not need."""
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
OF_TYPER = {"pydantic", "pydantic_core"}
"""With what Typer itself reads the values of options."""
LIST = """
import json, sys
from toolmd._cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.__stderr__)
"""


def imported(folder, *words: str, script: str = LIST, among: set[str] = HEAVY) -> set[str]:
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
    return among & set(modules)


@pytest.mark.parametrize("words", [("--help",), ("--version",)])
def test_help_imports_nothing_heavy(tmp_path, words: tuple[str, ...]) -> None:
    assert imported(tmp_path, *words) == set()


@pytest.mark.parametrize("words", [("check", "--help"), ("rule",)])
def test_a_small_verb_imports_no_more_than_typer_does(tmp_path, words: tuple[str, ...]) -> None:
    assert imported(tmp_path, *words) <= OF_TYPER


def test_check_on_a_warm_cache_imports_no_parser_and_no_expressions(shop) -> None:
    shop("check")
    assert imported(shop.folder, "check") <= OF_TYPER


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (LIST, ("check",)),
        (LIST, ("call", "sell_flowers", "kind=rose", "number=2")),
        (OPEN, ()),
        (OPEN_AND_CALL, ()),
    ],
    ids=["check", "call", "Workspace.open", "Workspace.call"],
)
def test_a_project_of_tools_imports_nothing_of_skills_and_servers(shop, script, words) -> None:
    assert imported(shop.folder, *words, script=script, among=FOR_SKILLS_AND_SERVERS) == set()


def completed(folder, words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "toolmd"],
        cwd=folder,
        env={
            **os.environ,
            "TOOLMD_LOAD_PLUGINS": "",
            "_TOOLMD_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_names_are_completed(shop) -> None:
    assert completed(shop.folder, "toolmd call se").stdout.split() == ["sell_flowers"]
    assert completed(shop.folder, "toolmd run make_b").stdout.split() == ["make_bouquet"]


def test_names_are_not_completed_outside_a_project(tmp_path) -> None:
    assert completed(tmp_path, "toolmd call se").stdout.split() == []


def test_completion_imports_nothing_heavy(tmp_path) -> None:
    done = completed(tmp_path, "toolmd ex")
    assert "export" in done.stdout
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert HEAVY & modules <= OF_TYPER
