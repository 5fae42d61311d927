"""A plugin's own folder: its tools are tried where they lie, without being installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import warm_python
from tests.command import run_command

PYPROJECT = """
[project]
name = "garden-tools"
version = "0.1.0"
[project.entry-points.toolmd]
garden-tools = "garden_tools.plugin"
"""
PLUGIN = """
from importlib.resources import files
from toolmd.hooks import hookimpl
from garden_tools.shed import Shed

@hookimpl
def toolmd_definitions():
    return [files("garden_tools") / "tools_md"]

@hookimpl
def toolmd_default_min():
    return 0.5

@hookimpl
def toolmd_resources(registry):
    registry.register_value(Shed, Shed())
"""
TOOL = """# Rake

Rakes.

## Metadata

- **Name**: rake
- **Version**: 1.0.0
- **Category**: test

## Parameters

None

## Returns

- **Type**: object
- **Description**: What came of it
"""
ABSOLUTE = "from garden_tools.shed import Shed\ndef rake(*, shed: Shed): return {'in': shed.name}\n"
RELATIVE = ABSOLUTE.replace("garden_tools.shed", "..shed")
OWN = '[tool.toolmd]\ntools = ["{0}garden_tools/tools_md"]\nskills = []\n'


def plugin_folder(root: Path, below: str, python: str, more: str = "") -> None:
    """Write the source of a plugin whose tool takes a resource."""
    for path, text in {
        "pyproject.toml": PYPROJECT + more,
        f"{below}garden_tools/__init__.py": "",
        f"{below}garden_tools/plugin.py": PLUGIN,
        f"{below}garden_tools/shed.py": "class Shed: name = 'the shed'\n",
        f"{below}garden_tools/tools_md/__init__.py": "",
        f"{below}garden_tools/tools_md/rake.tool.md": TOOL,
        f"{below}garden_tools/tools_md/rake.py": python,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def typed(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolmd", *words]
    own = {name: value for name, value in os.environ.items() if name != "TOOLMD_LOAD_PLUGINS"}
    env = {**own, **environment}
    return warm_python.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("below", ["src/", ""])
@pytest.mark.parametrize("python", [ABSOLUTE, RELATIVE])
@pytest.mark.parametrize("own", [True, False])
def test_a_plugin_is_tested_in_its_own_folder(
    tmp_path: Path, below: str, python: str, own: bool
) -> None:
    only = 'plugins = ["garden-tools"]\n'
    more = OWN.format(below) + only if own else ""
    plugin_folder(tmp_path, below, python, more)
    allowed = {} if own else {"TOOLMD_LOAD_PLUGINS": "garden-tools"}

    checked = typed(tmp_path, "check", **allowed)
    denied = typed(tmp_path, "call", "rake", **allowed)
    called = typed(tmp_path, "call", "rake", "--confidence", "0.9", **allowed)

    assert checked.stderr == "All well: 1 tool, 0 skills.\n", checked.stdout
    assert "missing_confidence" in denied.stderr
    assert json.loads(called.stdout) == {"in": "the shed"}, called.stderr


def test_a_plugins_folder_is_found_from_below_it(tmp_path: Path) -> None:
    plugin_folder(tmp_path, "src/", ABSOLUTE)
    inside = tmp_path / "src/garden_tools"

    listed = typed(inside, "list", "--json", TOOLMD_LOAD_PLUGINS="garden-tools")

    assert [tool["name"] for tool in json.loads(listed.stdout)] == ["rake"], listed.stderr


@pytest.mark.parametrize("allowed", ["", "another"])
def test_the_list_of_plugins_applies_to_the_folders_own_too(tmp_path: Path, allowed: str) -> None:
    plugin_folder(tmp_path, "src/", ABSOLUTE, OWN.format("src/"))
    (tmp_path / "src/garden_tools/plugin.py").write_text("raise SystemExit('loaded')\n")

    checked = typed(tmp_path, "check", TOOLMD_LOAD_PLUGINS=allowed)

    assert "loaded" not in checked.stdout + checked.stderr
    assert ("another is named" in checked.stdout) == bool(allowed)


def test_a_package_that_is_installed_too_is_loaded_once_from_its_source(tmp_path: Path) -> None:
    source, site = tmp_path / "source", tmp_path / "site"
    plugin_folder(source, "src/", ABSOLUTE)
    plugin_folder(site, "", "raise SystemExit('the installed one')\n")
    info = site / "garden_tools-0.0.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: garden-tools\nVersion: 0.0.9\n")
    (info / "entry_points.txt").write_text("[toolmd]\ngarden-tools = garden_tools.plugin\n")
    around = {"PYTHONPATH": str(site), "TOOLMD_LOAD_PLUGINS": "garden-tools"}

    checked = typed(source, "check", **around)
    listed = typed(source, "plugins", "--json", **around)

    assert checked.stderr == "All well: 1 tool, 0 skills.\n", checked.stdout
    assert [plugin["version"] for plugin in json.loads(listed.stdout)] == ["0.1.0"]


def test_a_finding_of_an_installed_package_is_shown_and_fails_no_project(tmp_path: Path) -> None:
    site, project, shared = (tmp_path / name for name in ("site", "project", "shared"))
    plugin_folder(site, "", ABSOLUTE)
    (site / "garden_tools/tools_md/rake.tool.md").write_text(TOOL.replace("None", "- nonsense"))
    info = site / "garden_tools-0.0.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: garden-tools\nVersion: 0.0.9\n")
    (info / "entry_points.txt").write_text("[toolmd]\ngarden-tools = garden_tools.plugin\n")
    around = {"PYTHONPATH": str(site), "TOOLMD_LOAD_PLUGINS": "garden-tools"}
    for folder in (project, shared):
        folder.mkdir()
    (project / "toolmd.toml").write_text('tools = ["../shared"]\nskills = []\n')

    checked = typed(project, "check", **around)
    assert "garden_tools/tools_md/rake.tool.md" in checked.stdout
    assert "error[" in checked.stdout
    assert checked.returncode == 0

    (shared / "broken.tool.md").write_text(TOOL.replace("None", "- nonsense"))
    assert typed(project, "check", **around).returncode == 1


def test_a_project_elsewhere_loads_no_plugin_from_a_folder_above_it(tmp_path: Path) -> None:
    plugin_folder(tmp_path, "src/", ABSOLUTE)
    inner = tmp_path / "examples"
    (inner / "tools_md").mkdir(parents=True)
    (inner / "toolmd.toml").write_text("")

    checked = typed(inner, "check", TOOLMD_LOAD_PLUGINS="garden-tools")

    assert "garden-tools is named in `plugins` and not installed" in checked.stdout


COMMAND = """from toolmd.hooks import hookimpl


@hookimpl
def toolmd_commands(app):
    @app.command()
    def tour() -> None:
        print("on tour")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package whose plugin has a command."""
    site = tmp_path / "site"
    info = site / "guided_tours-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guided-tours\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[toolmd]\nguided-tours = guided_tours\n")
    (site / "guided_tours.py").write_text(COMMAND)
    monkeypatch.syspath_prepend(str(site))


@pytest.mark.usefixtures("installed")
def test_an_installed_plugins_command_works_outside_of_a_project(tmp_path: Path) -> None:
    around = {"TOOLMD_LOAD_PLUGINS": "guided-tours"}

    assert "commands: tour." in run_command(tmp_path, "plugins", **around).err
    assert run_command(tmp_path, "tour", **around).out == "on tour\n"


def test_a_command_of_a_plugin_that_no_settings_allow_names_their_error(tmp_path: Path) -> None:
    (tmp_path / "toolmd.toml").write_text("plugin = []\n")

    typed = run_command(tmp_path, "tour")

    assert typed.code == 2
    assert "unknown key; did you mean 'plugins'?" in typed.err


def test_outside_of_a_project_only_installed_plugins_are_listed(tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (below / "rake.tool.md").write_text(TOOL)
    (tmp_path / "plugin.py").write_text("raise SystemExit('loaded')\n")

    typed = run_command(tmp_path, "plugins", "--json")

    assert (typed.out, typed.code) == ("[]\n", 0)
