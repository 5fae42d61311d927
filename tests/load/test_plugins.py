"""Plugins: found where they are installed, isolated, and reported if they are broken."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bind_project import Project, parameter, tool

from toolmd._load.build import Snapshot, build
from toolmd._load.files import python_below
from toolmd._load.plugins import Plugins
from toolmd._workspace.reader import reader_of
from toolmd.config import load_settings
from toolmd.hooks import hookimpl


class Packages:
    """A folder of installed packages."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()

    def install(self, name: str, code: str, files: dict[str, str] | None = None) -> None:
        module = name.replace("-", "_")
        info = self.root / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[toolmd]\nmain = {module}\n")
        package = self.root / module
        package.mkdir()
        (package / "__init__.py").write_text(f"from toolmd.hooks import hookimpl\n{code}")
        for path, text in (files or {}).items():
            file = package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    made = Packages(tmp_path / "site")
    monkeypatch.syspath_prepend(made.root)
    before = set(sys.modules)
    yield made
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(made.root)):
            del sys.modules[name]


DEFINITIONS = (
    "import pathlib\n@hookimpl\ndef toolmd_definitions():\n"
    "    return [pathlib.Path(__file__).parent / 'tools']\n"
)


def build_with(project: Project, plugins: list[str]) -> Snapshot:
    settings = load_settings(project.root, overrides={"plugins": plugins}, environ={})
    return build(settings, reader_of(None))


def test_a_package_brings_its_tools_and_their_python(project: Project, packages: Packages) -> None:
    packages.install(
        "brings-tools",
        DEFINITIONS + "@hookimpl\ndef toolmd_default_min(): return 0.7\n",
        {
            "tools/lend-it.tool.md": tool("lend_it"),
            "tools/lend_it.py": "from ..store import SHELF\ndef lend_it(): return SHELF",
            "store.py": "SHELF = object()",
        },
    )
    project.tool("own")

    registry = build_with(project, ["brings-tools"]).registry

    import brings_tools.store

    lend = registry.tools["lend_it"]
    assert registry.diagnostics == ()
    assert list(registry.tools) == ["own", "lend_it"]
    assert lend.binding.kind == "entry_point"
    assert lend.binding.load().function() is brings_tools.store.SHELF
    assert (lend.default_min, registry.tools["own"].default_min) == (0.7, None)


def test_a_guard_next_to_a_packages_implementation_is_asked_before_it_is_loaded(
    project: Project, packages: Packages
) -> None:
    guard = "@hookimpl\ndef toolmd_guards(spec): return ['a judge']\n"
    packages.install(
        "brings-tools",
        DEFINITIONS,
        {
            "tools/lend-it.tool.md": tool("lend_it"),
            "tools/lend_it.py": f"from toolmd import hookimpl\n{guard}def lend_it(): return 1",
        },
    )
    plugins = build_with(project, ["brings-tools"]).plugins

    assert [a.value for a in plugins.ask("toolmd_guards", spec=None)] == [["a judge"]]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import nowhere_to_be_found", "nowhere_to_be_found"),
        ("raise SystemExit('bye')", "bye"),
        ("def broken(:", "SyntaxError"),
        ("@hookimpl\ndef toolmd_definitions(what): ...", "what"),
        ("@hookimpl\ndef toolmd_jugdes(): ...", "toolmd_jugdes"),
        ("@hookimpl\ndef toolmd_definitions(): raise OSError('disk')", "disk"),
        ("@hookimpl\ndef toolmd_definitions(): return 5", "must return a list of paths"),
        ("@hookimpl\ndef toolmd_definitions(): return ['/nowhere/at/all']", "no folder"),
    ],
)
def test_a_broken_plugin_is_reported_with_its_package_and_the_others_work(
    project: Project, packages: Packages, code: str, says: str
) -> None:
    packages.install("breaks-down", code)
    packages.install("works-well", DEFINITIONS, {"tools/good.tool.md": tool("good")})
    project.tool("own")

    registry = build_with(project, ["breaks-down", "works-well"]).registry
    (found,) = registry.diagnostics

    assert list(registry.tools) == ["own", "good"]
    assert found.severity == "error"
    assert "breaks-down" in found.message
    assert says in found.message


@pytest.mark.parametrize("least", ["1.5", "'high'", "None", "True", "1/0"])
def test_an_unreadable_minimum_confidence_keeps_the_tools_out(
    project: Project, packages: Packages, least: str
) -> None:
    code = DEFINITIONS + f"@hookimpl\ndef toolmd_default_min(): return {least}\n"
    packages.install("asks-oddly", code, {"tools/good.tool.md": tool("good")})

    registry = build_with(project, ["asks-oddly"]).registry

    assert not registry.tools
    assert [d.code for d in registry.diagnostics] == ["broken-plugin"]


def test_crisis_words_of_a_package_without_tools_are_reported(
    project: Project, packages: Packages
) -> None:
    packages.install("only-words", "@hookimpl\ndef toolmd_crisis_words(): return ['die']\n", {})
    packages.install("no-words", "@hookimpl\ndef toolmd_crisis_words(): return []\n", {})

    (found,) = build_with(project, ["only-words", "no-words"]).registry.diagnostics

    assert (found.severity, "safety.crisis_words" in found.message) == ("error", True)


@pytest.mark.parametrize("words", ["'die'", "['', 'die']", "[1]", "3", "1/0"])
def test_unreadable_crisis_words_keep_the_tools_out(
    project: Project, packages: Packages, words: str
) -> None:
    code = DEFINITIONS + f"@hookimpl\ndef toolmd_crisis_words(): return {words}\n"
    packages.install("hears-oddly", code, {"tools/good.tool.md": tool("good")})

    registry = build_with(project, ["hears-oddly"]).registry

    assert not registry.tools
    assert [d.code for d in registry.diagnostics] == ["broken-plugin"]


def test_only_plugins_on_the_list_load(project: Project, packages: Packages) -> None:
    packages.install("not-wanted", "raise RuntimeError('imported')")
    packages.install("is_wanted", DEFINITIONS, {"tools/good.tool.md": tool("good")})

    registry = build_with(project, ["is-wanted"]).registry

    assert list(registry.tools) == ["good"]
    assert registry.diagnostics == ()
    assert build_with(project, []).registry.diagnostics == ()


def test_a_listed_plugin_that_is_not_installed_is_reported(project: Project) -> None:
    (found,) = build_with(project, ["never-heard-of"]).registry.diagnostics

    assert "never-heard-of" in found.message


def test_the_projects_own_tool_overrides_a_packages_tool_of_the_same_name(
    project: Project, packages: Packages
) -> None:
    packages.install("same-name", DEFINITIONS, {"tools/own.tool.md": tool("own")})
    project.tool("own")

    registry = build_with(project, ["same-name"]).registry

    assert registry.tools["own"].spec.source.path == "tools_md/own.tool.md"
    assert [d.code for d in registry.diagnostics] == ["duplicate-name"]
    assert registry.diagnostics[0].severity == "warning"
    assert registry.diagnostics[0].help == "give tools_md/own.tool.md another Name to have both"


@pytest.mark.parametrize(
    "value", ["points_off:plugn", "points_off:plugin.none", "points_away:plugin", ":plugin"]
)
def test_an_entry_point_that_names_nothing_is_reported_with_its_text(
    project: Project, packages: Packages, value: str
) -> None:
    packages.install("points-off", "class plugin: pass\n")
    points = packages.root / "points_off-1.2.dist-info" / "entry_points.txt"
    points.write_text(f"[toolmd]\nmain = {value}\n")

    (found,) = build_with(project, ["points-off"]).registry.diagnostics

    assert found.code == "broken-plugin"
    assert f"plugin points-off can't be loaded from `{value}`: " in found.message


def test_two_plugins_with_a_tool_of_one_name_are_an_error_that_names_both(
    project: Project, packages: Packages
) -> None:
    for name in ("says-one", "says-two"):
        packages.install(name, DEFINITIONS, {"tools/own.tool.md": tool("own")})

    (found,) = build_with(project, ["says-one", "says-two"]).registry.diagnostics

    assert (found.code, found.severity) == ("duplicate-name", "error")
    assert "own.tool.md of the plugin says-one" in found.message
    assert "own.tool.md of the plugin says-two" in found.message
    assert "`plugins` in the settings" in found.help


def test_a_changed_plugin_that_can_be_edited_asks_for_a_restart_once(
    project: Project, packages: Packages
) -> None:
    packages.install(
        "brings-tools",
        DEFINITIONS,
        {
            "tools/lend-it.tool.md": tool("lend_it"),
            "tools/lend_it.py": "def lend_it(): return 1",
            "store.py": "SHELF = 1",
        },
    )
    old = build_with(project, ["brings-tools"])
    assert old.registry.diagnostics == ()
    assert [Path(place).name for place in old.plugins.sources] == ["brings_tools"]

    for path in ("store.py", "tools/lend_it.py"):
        (packages.root / "brings_tools" / path).write_text("SHELF = 22")
    (found,) = build_with(project, ["brings-tools"]).registry.diagnostics

    assert (found.code, found.severity) == ("changed-plugin", "warning")
    assert found.span.path.endswith(("store.py", "lend_it.py"))
    assert found.help == "restart this process to use it"


def test_an_editors_lock_and_a_deleted_file_leave_a_plugin_as_it_is(
    project: Project, packages: Packages, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.install("brings-tools", DEFINITIONS, {"tools/lend-it.tool.md": tool("lend_it")})
    folder = packages.root / "brings_tools"

    def walk(place: str) -> Iterator[str]:
        yield from python_below(place)
        # As Emacs writes it while a file is edited: a link that leads nowhere.
        yield str(folder / ".#__init__.py")
        yield str(folder / "deleted.py")

    monkeypatch.setattr("toolmd._load.plugins.python_below", walk)
    if os.name == "posix":
        (folder / ".#__init__.py").symlink_to("ana@host.1:2")

    assert build_with(project, ["brings-tools"]).registry.diagnostics == ()


def test_python_that_the_project_reads_anew_asks_for_no_restart(
    project: Project, packages: Packages
) -> None:
    files = {"tools/lend-it.tool.md": tool("lend_it"), "tools/lend_it.py": "def lend_it(): ..."}
    packages.install("brings-tools", DEFINITIONS, files)
    own = {"plugins": ["brings-tools"], "tools": [str(packages.root / "brings_tools/tools")]}
    settings = load_settings(project.root, overrides=own, environ={})
    assert build(settings, reader_of(None)).registry.diagnostics == ()

    (packages.root / "brings_tools/tools/lend_it.py").write_text("def lend_it(): return 22")

    assert build(settings, reader_of(None)).registry.diagnostics == ()


@pytest.mark.parametrize(
    ("file", "text"),
    [("METADATA", "Metadata-Version: 2.1\nName: brings-tools\nVersion: 1.3\n"),
     ("RECORD", "brings_tools/__init__.py,sha256=another,12\n")],
)  # fmt: skip
def test_an_installed_plugin_that_was_installed_again_asks_for_a_restart(
    project: Project, packages: Packages, monkeypatch: pytest.MonkeyPatch, file: str, text: str
) -> None:
    installed = Packages(packages.root / "site-packages")
    monkeypatch.syspath_prepend(installed.root)
    installed.install("brings-tools", DEFINITIONS, {"tools/lend-it.tool.md": tool("lend_it")})
    assert build_with(project, ["brings-tools"]).plugins.sources == {}
    (installed.root / "brings_tools-1.2.dist-info" / file).write_text(text)

    (found,) = build_with(project, ["brings-tools"]).registry.diagnostics

    assert (found.code, found.span.path) == ("changed-plugin", "brings-tools")


def test_each_snapshot_has_a_manager_of_its_own(project: Project) -> None:
    first, second = project.build(), project.build()

    assert first.plugins.manager is not second.plugins.manager


def test_a_sibling_with_hooks_is_a_plugin_before_its_tool_is_loaded(project: Project) -> None:
    project.tool("one", python="from toolmd.hooks import hookimpl\ndef one(): ...\n"
                 "@hookimpl\ndef toolmd_guards(spec): return ['a judge']")  # fmt: skip
    snapshot = project.build()
    assert [a.value for a in snapshot.plugins.ask("toolmd_guards", spec=None)] == [["a judge"]]

    snapshot.registry.tools["one"].binding.load()

    assert [a.value for a in snapshot.plugins.ask("toolmd_guards", spec=None)] == [["a judge"]]
    assert snapshot.plugins.manager.has_plugin("tools_md/one.py")


def test_a_misspelt_hook_in_a_sibling_denies_calls_of_its_tool(project: Project) -> None:
    project.tool("one", python="from toolmd.hooks import hookimpl\ndef one(): ...\n"
                 "@hookimpl\ndef toolmd_jugdes(spec): ...")  # fmt: skip

    (found,) = project.inspect("one")

    assert "toolmd_jugdes" in found.message


def test_one_plugin_that_fails_to_answer_stops_no_other(project: Project) -> None:
    class Fails:
        @hookimpl
        def toolmd_guards(self, spec):
            raise ValueError(spec)

    class Answers:
        @hookimpl
        def toolmd_guards(self):
            return ["mild"]

    plugins = Plugins((), {"fails": Fails(), "answers": Answers()}, import_timeout=10)

    answers = {a.plugin: a for a in plugins.ask("toolmd_guards", spec="x")}

    assert isinstance(answers["fails"].error, ValueError)
    assert answers["answers"].value == ["mild"]


def test_a_plugin_provides_implementations_for_tools_without_python(project: Project) -> None:
    class Gives:
        @hookimpl
        def toolmd_implementation(self, spec):
            return (lambda day: day) if spec.name == "given" else None

    project.tool("given", parameter("day"))
    project.tool("bare")
    registry = project.build(given={"gives": Gives()}).registry

    given = registry.tools["given"].binding
    assert (given.kind, given.target) == ("entry_point", "gives:given")
    assert given.load().function(day=3) == 3
    assert registry.tools["bare"].binding.kind == "none"


def test_the_plugin_of_a_folder_provides_implementations_without_running_at_load(
    project: Project,
) -> None:
    project.write(
        "tools_md/plugin.py",
        "from toolmd.hooks import hookimpl\n@hookimpl\ndef toolmd_implementation(spec):\n"
        "    return (lambda: 'made') if spec.name == 'given' else None\n",
    )
    project.tool("given")
    project.tool("bare")
    snapshot = project.build()
    assert snapshot.plugins.listed["tools_md/plugin.py"].state == "asleep"

    assert snapshot.registry.tools["given"].binding.load().function() == "made"
    assert snapshot.registry.tools["bare"].binding.kind == "none"


def test_known_plugins_can_be_listed(project: Project, packages: Packages) -> None:
    packages.install("works-well", "'''Does it well.\n\nTruly.'''\n")
    packages.install("breaks-down", "raise OSError('no')")
    snapshot = build_with(project, ["works-well", "breaks-down"])
    known = snapshot.plugins.listed

    assert known["works-well"][1:4] == ("works-well", "1.2", "loaded")
    assert known["breaks-down"].state == "broken"
    assert "no" in known["breaks-down"].about


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "own.tool.md",
            tool("own")
            .replace("- **Name**: own\n", "")
            .replace("**Type**: object", "**Type**: objct"),
        ),
        ("other.tool.md", tool("own").replace("**Type**: object", "**Type**: objct")),
    ],
    ids=["its file's name", "its stated name"],
)
def test_a_plugins_tool_does_not_run_in_place_of_a_broken_file_of_the_project(
    project: Project, packages: Packages, file: str, text: str
) -> None:
    packages.install("says-one", DEFINITIONS, {"tools/own.tool.md": tool("own")})
    project.write(f"tools_md/{file}", text)

    registry = build_with(project, ["says-one"]).registry

    assert "own" not in registry.tools
    said = [found.message for found in registry.diagnostics if found.severity == "warning"]
    assert "own of the plugin says-one does not run while this file has errors" in said
