"""`init` and `new`: what they write works at once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command import apart


def pytest_in(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    words = (sys.executable, "-c", program, "-q", "-p", "no:cacheprovider", "tests")
    return apart(folder, *words, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")


def test_a_new_project_checks_and_calls_at_once(console, as_golden) -> None:
    typed = console("init")
    assert typed.code == 0
    as_golden(typed.out + typed.err, "init.txt")
    assert console("check").err == "All well: 1 tool, 0 skills.\n"
    assert json.loads(console("call", "say_hello", "name=Ana").out) == {"greeting": "Hello, Ana!"}
    assert console("fmt", "--check").code == 0
    done = pytest_in(console.folder)
    assert done.returncode == 0, done.stdout


def test_init_creates_its_folder_and_keeps_existing_files(console) -> None:
    console.write("flowers/.gitignore", "*.log")
    assert console("init", "flowers").code == 0
    assert (console.folder / "flowers/.gitignore").read_text() == "*.log\n.toolmd/\n"
    again = console("init", "flowers")
    assert again.code == 2
    assert "already a project" in again.err


def test_init_writes_over_nothing(console) -> None:
    file = console.write("tools_md/say-hello.tool.md", "mine")
    typed = console("init")
    assert typed.code == 2
    assert "tools_md/say-hello.tool.md exists already" in typed.err
    assert file.read_text() == "mine"
    assert not (console.folder / "toolmd.toml").exists()


def test_a_new_tool_of_a_function_that_is_there_is_drafted_from_it(shop) -> None:
    text = "from typing import Literal\n\n\n"
    text += 'def water_plants(bed: int, how: Literal["can", "hose"] = "can") -> bool:\n'
    text += '    """Water the plants of a bed."""\n    return bed > 0\n'
    file = shop.write("tools_md/garden.py", text)
    typed = shop("new", "tool", "water-plants")
    assert (typed.code, typed.out) == (0, "made tools_md/water-plants.tool.md\n")
    assert "review the draft of the function that garden.py has" in typed.err
    assert file.read_text() == text
    draft = (shop.folder / "tools_md/water-plants.tool.md").read_text()
    assert "**Implemented By**: garden:water_plants" in draft
    assert "- **Default**: can\n- **Enum**: can, hose\n" in draft
    assert "- **Type**: boolean" in draft
    assert shop("call", "water_plants", "bed=1").out == "true\n"


@pytest.mark.parametrize("kind", ["tool", "skill"])
def test_a_new_definition_is_canonical_and_its_test_passes(shop, kind: str) -> None:
    typed = shop("new", kind, "water-plants")
    assert typed.code == 0
    assert typed.out.splitlines()[0] == f"made {kind}s_md/water-plants.{kind}.md"
    assert shop("fmt", "--check").code == 0
    found = json.loads(shop("check", "--json").out)
    assert [d for d in found if d["severity"] != "hint"] == []
    done = pytest_in(shop.folder)
    assert done.returncode == 0, done.stdout
    assert not (shop.folder / ".toolmd/audit").exists(), "the project's own state"


def test_a_new_tools_python_has_the_right_signature(shop) -> None:
    shop("new", "tool", "water_plants")
    text = (shop.folder / "tools_md/water_plants.py").read_text()
    assert "async def water_plants(text: str) -> dict[str, Any]:" in text


def test_a_new_tool_has_no_limit_whose_removal_would_wait(shop) -> None:
    assert shop("new", "tool", "wrap-gift").code == 0
    spec = json.loads(shop("show", "wrap_gift", "--json").out)
    field = spec["input_schema"]["properties"]["text"]
    assert sorted(field) == ["description", "type"]
    assert not spec.keys() & {"limits", "safety", "rules"}


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("WaterPlants", "did you mean 'water_plants'?"),
        ("water plants", "did you mean 'water_plants'?"),
        ("9lives", "did you mean 'lives'?"),
        ("class", "choose another name"),
        ("../x", "write it like"),
        ("x" * 65, "write it like"),
    ],
)
def test_an_invalid_name_is_a_usage_error(shop, name: str, help_: str) -> None:
    typed = shop("new", "tool", name)
    assert typed.code == 2
    assert help_ in typed.err or "did you mean" in typed.err


def test_no_existing_file_is_overwritten(shop) -> None:
    typed = shop("new", "tool", "sell_flowers")
    assert typed.code == 2
    assert "exists already" in typed.err


def test_a_new_plugin_is_a_project_whose_test_passes_before_it_is_installed(console) -> None:
    typed = console("new", "plugin", "garden_tools")
    assert "made garden-tools/src/garden_tools/tools_md/garden-tools.tool.md\n" in typed.out
    assert typed.err == "Next: cd garden-tools && toolmd check && pip install -e .\n"

    inside = type(console)(console.folder / "garden-tools")
    assert inside("check").err == "All well: 1 tool, 0 skills.\n"
    made = inside("new", "tool", "rake")
    assert made.out.startswith("made src/garden_tools/tools_md/rake.tool.md\n")
    done = pytest_in(inside.folder)
    assert done.returncode == 0, done.stdout


def test_a_new_plugin_is_found_once_it_is_on_the_path(shop, tmp_path: Path) -> None:
    shop("new", "plugin", "garden_tools")
    site = tmp_path / "site"
    info = site / "garden_tools-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: garden-tools\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[toolmd]\ngarden-tools = garden_tools.plugin\n")
    path = os.pathsep.join([str(shop.folder / "garden-tools/src"), str(site)])
    command = [sys.executable, "-m", "toolmd"]
    environment = {"PYTHONPATH": path, "TOOLMD_LOAD_PLUGINS": "garden-tools"}
    called = apart(shop.folder, *command, "call", "garden_tools", "text=x", **environment)
    assert json.loads(called.stdout) == {"text": "x"}, called.stderr
    listed = apart(shop.folder, *command, "plugins", "--json", **environment)
    (plugin,) = [p for p in json.loads(listed.stdout) if p["name"] == "garden-tools"]
    assert (plugin["version"], plugin["state"]) == ("0.1.0", "loaded")


def test_written_files_are_reported_as_json_too(console) -> None:
    made = json.loads(console("init", "--json").out)
    assert made["written"][0] == "toolmd.toml"
    assert made["next"] == "toolmd check && toolmd call say_hello name=Ana"
    tool = json.loads(console("new", "tool", "water-plants", "--json").out)
    assert tool["written"][:2] == ["tools_md/water-plants.tool.md", "tools_md/water_plants.py"]
    skill = json.loads(console("new", "skill", "tend-garden", "--json").out)
    assert skill["written"][0] == "skills_md/tend-garden.skill.md"
    plugin = json.loads(console("new", "plugin", "seed-box", "--json").out)
    assert "seed-box/pyproject.toml" in plugin["written"]
