"""The reference agrees with the code, and is complete."""

import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import toolmd
from toolmd import database, hooks, testing
from toolmd._cli.commands import make_app
from toolmd._cli.frame import ExitCode
from toolmd._dialect import DIALECTS
from toolmd._export.targets import TARGETS
from toolmd._expressions.functions import FUNCTIONS
from toolmd._http.operations import OPERATIONS
from toolmd._parse.fields import table as fields
from toolmd._types.code import Code
from toolmd._types.result import Result
from toolmd._types.skill import STEP_KEYS, SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd.config import PREFIX
from toolmd.config.values import KINDS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATOR = runpy.run_path(str(DOCS / "generate.py"))
PAGES: dict[str, Callable[[], str]] = GENERATOR["PAGES"]


FOR_THE_SITE: set[str] = GENERATOR["FOR_THE_SITE"]
PYTHON = PAGES["python.md"]()


def page(name: str) -> str:
    return PAGES[name]() if name in FOR_THE_SITE else (DOCS / "reference" / name).read_text("utf-8")


@pytest.mark.parametrize("name", sorted({*PAGES} - FOR_THE_SITE))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert page(name) == GENERATOR["NOTE"] + PAGES[name](), "run `make docs`"


def test_every_public_name_has_a_section() -> None:
    titles = set(re.findall(r"^## (\w+)$", PYTHON, re.MULTILINE))

    assert {*toolmd.__all__, *database.__all__, *testing.__all__} <= titles


def test_every_public_field_has_a_sentence() -> None:
    untold = re.findall(r"^\| (`.+`) \|  \|$", PYTHON, re.MULTILINE)

    assert not untold, "write a sentence under the field"


@pytest.mark.parametrize("name", ["ToolError", "Watcher", "Conversation", "Database", "FakeClock"])
def test_the_page_shows_how_to_construct_a_class(name: str) -> None:
    assert f"\n{name}(" in PYTHON


def test_no_page_shows_the_address_of_an_object() -> None:
    assert " at 0x" not in PYTHON


def test_every_function_of_expressions_is_documented() -> None:
    rows = set(re.findall(r"^\| `(.+?)` ", page("expressions.md"), re.MULTILINE))

    assert {name.lstrip(".") for name in FUNCTIONS} == {row.replace("\\|", "|") for row in rows}


def test_every_hook_has_a_section() -> None:
    specified = {name for name, held in vars(hooks).items() if hasattr(held, "toolmd_spec")}

    assert specified == set(re.findall(r"^## (\w+)$", page("hooks.md"), re.MULTILINE))


def test_every_operation_of_http_has_a_row() -> None:
    assert all(f"`{one.method} {one.path}`" in page("http.md") for one in OPERATIONS)


def test_every_code_has_a_section() -> None:
    assert set(Code) == set(re.findall(r"^## ([\w-]+)$", page("diagnostics.md"), re.MULTILINE))


def test_every_setting_has_a_row() -> None:
    assert set(KINDS) <= set(re.findall(r"^\| `(.+?)` ", page("configuration.md"), re.MULTILINE))


def test_every_variable_that_the_code_reads_is_documented() -> None:
    read = set()
    for file in (ROOT / "framework").rglob("*.py"):
        read |= set(re.findall(r"\bTOOLMD_[A-Z_]+\b", file.read_text("utf-8")))

    of_settings = {PREFIX + key.upper().replace(".", "_") for key in KINDS}
    told = set(re.findall(r"`(TOOLMD_\w+)`", page("configuration.md")))
    assert read - {PREFIX} <= told | of_settings


def test_every_command_has_a_section() -> None:
    def commands(group: Any, words: str) -> Iterator[str]:
        for name, command in group.commands.items():
            own = getattr(command, "commands", {})
            yield from commands(command, f"{words} {name}") if own else ()
            if not command.hidden and (not own or command.invoke_without_command):
                yield f"{words} {name}"

    known = set(commands(typer.main.get_command(make_app()), "toolmd"))
    assert known == set(re.findall(r"^## (toolmd .+)$", page("commands.md"), re.MULTILINE))


def test_every_exit_code_is_documented() -> None:
    told = page("index.md").partition("## Exit status")[2]
    assert {str(code.value) for code in ExitCode} <= set(
        re.findall(r"^\| (\d+) ", told, re.MULTILINE)
    )


def test_every_field_has_a_row() -> None:
    rows = set(re.findall(r"^\| \*\*(.+?)\*\* ", page("fields.md"), re.MULTILINE))
    tables = [section.fields for table in fields.TABLES.values() for section in table]

    named = {f.name for table in [*tables, fields.PARAMETER.fields] for f in table}
    assert {*named, *STEP_KEYS} == rows


@pytest.mark.parametrize("spec", [ToolSpec, SkillSpec])
def test_every_key_of_a_spec_is_documented(spec: type[ToolSpec | SkillSpec]) -> None:
    told = set(re.findall(r"`(\w+)`", page("json.md")))
    inner = {"parameters", "places", "returns", "workflow_sections"}

    assert spec.model_fields.keys() - inner <= told


def test_every_key_of_a_result_is_documented() -> None:
    keys = {*Result.__annotations__} - {"success", "tool", "message", "tool_call_id"}

    assert keys <= set(re.findall(r"`(\w+)`", page("json.md")))


@pytest.mark.parametrize("target", TARGETS)
def test_every_export_target_is_documented(target: str) -> None:
    assert target in (DOCS / "how-to" / "give-tools-to-a-model.md").read_text("utf-8")


@pytest.mark.parametrize("name", sorted({*TARGETS, *DIALECTS}))
def test_the_help_of_export_and_handle_names_every_target_and_dialect(name: str) -> None:
    assert f" {name}, " in page("commands.md")
