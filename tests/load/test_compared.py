"""What was found to fit is not imported again, and each edit that could make a difference is."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bind_project import Project, parameter
from tests.command import Ended, run_command

PYTHON = ".toolmd/specs.python.json"
TRACE = "with open(__file__ + '.ran', 'a') as trace:\n    trace.write('.')\n"
"""What shows how often a module was imported."""
USES = "from .shapes import Kind\n\n\ndef one(kind: Kind) -> dict:\n    return {}\n"
OUTSIDE = USES.replace(".shapes", "far_shapes")
OPTIONAL = (
    "try:\n    from .fast import Kind\nexcept ImportError:\n    from .shapes import Kind\n\n\n"
    "def one(kind: Kind) -> dict:\n    return {}\n"
)
CLINIC = "class Clinic:\n    pass\n"
TAKES = (
    "from .clinic import Clinic\n\n\n"
    "def one(kind: str, *, clinic: Clinic) -> dict:\n    return {}\n"
)
GIVES = (
    "import toolmd\n\nfrom .clinic import Clinic\n\n\n@toolmd.hookimpl\n"
    "def toolmd_resources(registry) -> None:\n    registry.register_value(Clinic, Clinic())\n"
)
BY_SETTING = GIVES.replace("(registry)", "(registry, settings)").replace(
    "    registry", "    if settings.results.max_bytes == 20000:\n        registry"
)
TEXT = "Kind = str\n"
NUMBER = "Kind = int\n"


def check(project: Project, *words: str) -> Ended:
    return run_command(project.root, "check", *words)


def ran(project: Project, path: str = "tools_md/one.py") -> int:
    file = project.root / f"{path}.ran"
    return len(file.read_text("utf-8")) if file.exists() else 0


@pytest.fixture
def traced(project: Project) -> Project:
    """A project of two tools, each of which notes when it is imported, checked once."""
    for name in ("one", "two"):
        project.tool(name, parameter("kind"), f"{TRACE}\n\ndef {name}(kind: str) -> dict: ...\n")
    assert check(project).code == 0
    assert ran(project) == 1
    return project


def test_python_that_was_found_to_fit_is_not_imported_again(traced: Project) -> None:
    assert check(traced).code == 0
    assert check(traced, "tools_md").code == 0
    assert ran(traced) == ran(traced, "tools_md/two.py") == 1


def test_only_the_python_that_changed_is_imported_again(traced: Project) -> None:
    traced.write("tools_md/one.py", f"{TRACE}\n\ndef one(kind: str | None) -> dict: ...\n")

    assert check(traced).code == 0
    assert (ran(traced), ran(traced, "tools_md/two.py")) == (2, 1)
    assert check(traced).code == 0
    assert (ran(traced), ran(traced, "tools_md/two.py")) == (2, 1)


def test_an_edit_of_a_definition_has_its_python_compared_again(traced: Project) -> None:
    traced.tool("one", parameter("kind") + parameter("size"))

    assert "`one` does not take the parameter `size`" in check(traced).out
    assert (ran(traced), ran(traced, "tools_md/two.py")) == (2, 1)


def test_a_finding_is_reported_each_time(traced: Project) -> None:
    traced.write("tools_md/one.py", f"{TRACE}\n\ndef one(kind: int) -> dict: ...\n")

    first, second = check(traced), check(traced)

    assert "type-drift" in first.out
    assert second == first


def test_a_warning_is_reported_each_time(traced: Project) -> None:
    traced.write("tools_md/one.py", "import httpx\n\n\ndef one(kind: str) -> dict:\n"
                                    "    return httpx.get(kind).json()\n")  # fmt: skip

    first, second = check(traced), check(traced)

    assert "own-http-client" in first.out
    assert second == first


def test_no_cache_imports_all_python_again(traced: Project) -> None:
    assert check(traced, "--no-cache").code == 0
    assert ran(traced) == ran(traced, "tools_md/two.py") == 2


def test_a_check_of_one_file_keeps_what_is_known_of_the_others(traced: Project) -> None:
    traced.write("tools_md/one.py", f"{TRACE}\n\ndef one(kind: str | None) -> dict: ...\n")
    assert check(traced, "tools_md/one.tool.md").code == 0

    assert check(traced).code == 0
    assert (ran(traced), ran(traced, "tools_md/two.py")) == (2, 1)


def test_a_reload_imports_only_what_changed(traced: Project) -> None:
    from toolmd import Workspace

    with Workspace.open(traced.root, plugins={}) as workspace:
        assert workspace.diagnostics == ()
        traced.write("tools_md/one.py", f"{TRACE}\n\ndef one(kind: int) -> dict: ...\n")
        workspace.reload()
        assert [found.code for found in workspace.diagnostics] == ["type-drift"]

    assert (ran(traced), ran(traced, "tools_md/two.py")) == (2, 1)


def test_a_call_compares_whatever_was_remembered(traced: Project) -> None:
    # What a file held on the first import is nothing that a hash covers.
    text = (
        f"{TRACE}\nfrom pathlib import Path\n\n"
        "kind = int if len(Path(__file__ + '.ran').read_text()) > 2 else str\n\n\n"
        "def one(kind: kind) -> dict:\n    return {}\n"
    )
    traced.write("tools_md/one.py", text)
    assert check(traced).code == 0
    assert check(traced).code == 0

    called = run_command(traced.root, "call", "one", "kind=x")

    assert called.code == 1
    assert "one does not fit its Python" in called.err + called.out


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\n\n\ndef one(kind: str) -> dict:\n    importlib.import_module(kind)\n",
        "def one(kind: str) -> dict:\n    exec(kind)\n",
        "try:\n    import not_here\nexcept ImportError:\n    pass\n\n\ndef one(kind: str): ...\n",
    ],
    ids=["computed import", "computed code", "unknown package"],
)
def test_python_whose_imports_are_not_known_is_imported_each_time(
    traced: Project, text: str
) -> None:
    traced.write("tools_md/one.py", TRACE + text)

    assert [check(traced).code, check(traced).code] == [0, 0]
    assert (ran(traced), ran(traced, "tools_md/two.py")) == (3, 1)


def test_python_with_hooks_is_imported_each_time(traced: Project) -> None:
    hook = "import toolmd\n\n\n@toolmd.hookimpl\ndef toolmd_guards():\n    return []\n\n\n"
    traced.write("tools_md/one.py", f"{TRACE}{hook}def one(kind: str) -> dict: ...\n")

    assert [check(traced).code, check(traced).code] == [0, 0]
    assert ran(traced) == 3


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="emptied"),
        pytest.param(lambda data: data[: len(data) // 2], id="halved"),
        pytest.param(lambda data: data.replace(b"rows", b"rowz"), id="edited"),
        pytest.param(lambda data: b"\x00" * 64, id="not text"),
        pytest.param(lambda data: b"[" * 100_000, id="deep"),
    ],
)
def test_a_damaged_cache_is_ignored(traced: Project, damage: Callable[[bytes], bytes]) -> None:
    file = traced.root / PYTHON
    file.write_bytes(damage(file.read_bytes()))

    assert check(traced) == (*check(traced),)
    assert ran(traced) == 2


@pytest.mark.parametrize("more", ["{}", '{"rows": 1}', '{"rows": [["a"]], "imports": []}',
                                  '{"rows": [], "imports": [["a", [1, 2, 3]]]}'])  # fmt: skip
def test_a_whole_file_of_another_form_is_ignored(traced: Project, more: str) -> None:
    import hashlib
    import json

    file = traced.root / PYTHON
    head = json.loads(file.read_bytes().partition(b"\n")[2])
    body = json.dumps({k: head[k] for k in ("format", "parser")} | json.loads(more)).encode()
    file.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    assert check(traced).code == 0
    assert ran(traced) == 2


def test_a_cache_that_others_could_write_is_not_used(traced: Project) -> None:
    (traced.root / ".toolmd").chmod(0o777)

    assert check(traced).code == 0
    assert ran(traced) == 2


def test_a_folder_that_can_not_be_written_is_checked_all_the_same(project: Project) -> None:
    project.tool("one", parameter("kind"), f"{TRACE}\n\ndef one(kind: str) -> dict: ...\n")
    project.write(".toolmd", "a file where the folder of the state would be")

    first, second = check(project), check(project)

    assert (first.code, second.code) == (0, 0)
    assert ran(project) == 2


def test_two_checks_at_once_leave_a_whole_cache(traced: Project) -> None:
    traced.write("tools_md/one.py", f"{TRACE}\n\ndef one(kind: str | None) -> dict: ...\n")
    begun = [_process(traced.root) for _ in range(2)]

    assert [process.wait() for process in begun] == [0, 0]
    before = ran(traced)
    assert check(traced).code == 0
    assert ran(traced) == before


def test_what_is_gone_is_forgotten(traced: Project) -> None:
    (traced.root / "tools_md/two.tool.md").unlink()
    (traced.root / "tools_md/two.py").unlink()
    traced.tool("one", parameter("kind", extra="- **Max Length**: 9\n"))
    assert check(traced).code == 0

    assert b"two" not in (traced.root / PYTHON).read_bytes()


EDITS: dict[str, tuple[dict[str, str], dict[str, str | None]]] = {
    "its own Python": ({"one.py": "def one(kind: str) -> dict: ...\n"},
                       {"one.py": "def one(kind: int) -> dict: ...\n"}),
    "its function is renamed": ({"one.py": "def one(kind: str) -> dict: ...\n"},
                                {"one.py": "def eno(kind: str) -> dict: ...\n"}),
    "its Python is broken": ({"one.py": "def one(kind: str) -> dict: ...\n"},
                             {"one.py": "def one(kind: str) -> dict: ..\n!"}),
    "a module that it imports": ({"one.py": USES, "shapes.py": TEXT}, {"shapes.py": NUMBER}),
    "a module that this one imports": (
        {"one.py": USES, "shapes.py": "from .deep import Kind\n", "deep.py": TEXT},
        {"deep.py": NUMBER},
    ),
    "a package that it imports": ({"one.py": USES, "shapes/__init__.py": TEXT},
                                  {"shapes/__init__.py": NUMBER}),
    "a module that it imports is gone": ({"one.py": USES, "shapes.py": TEXT}, {"shapes.py": None}),
    "a module that goes before": ({"one.py": OPTIONAL, "shapes.py": TEXT}, {"fast.py": NUMBER}),
    "a resource is not provided any more": (
        {"one.py": TAKES, "clinic.py": CLINIC, "plugin.py": GIVES},
        {"plugin.py": "import toolmd\n"},
    ),
    "a setting by which a resource is provided": (
        {"one.py": TAKES, "clinic.py": CLINIC, "plugin.py": BY_SETTING,
         "../toolmd.toml": "[results]\nmax_bytes = 20000\n"},
        {"../toolmd.toml": "[results]\nmax_bytes = 30000\n"},
    ),
    "the plugin of a resource is gone": (
        {"one.py": TAKES, "clinic.py": CLINIC, "plugin.py": GIVES}, {"plugin.py": None},
    ),
    "a module outside of the folder": ({"one.py": OUTSIDE, "../lib/far_shapes.py": TEXT},
                                       {"../lib/far_shapes.py": NUMBER}),
    "a module outside of the project": ({"one.py": OUTSIDE, "../../far/far_shapes.py": TEXT},
                                        {"../../far/far_shapes.py": NUMBER}),
    "an installed package": (
        {"one.py": OUTSIDE, "../site-packages/far_shapes.py": TEXT},
        {"../site-packages/far_shapes.py": NUMBER, "../site-packages/far-2.dist-info/RECORD": ""},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_after_a_clean_check_is_found(tmp_path: Path, edit: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root)
    project.tool("one", parameter("kind"))
    before, after = EDITS[edit]
    for path, text in before.items():
        project.write(f"tools_md/{path}", text)
    assert [_process(root).wait() for _ in range(2)] == [0, 0]

    for path, changed in after.items():
        file = root / "tools_md" / path
        if changed is None:
            file.unlink()
        else:
            # The same size and the same time, where it had one: the content decides. Outside of
            # the project Python itself goes on with its compiled module as long as the size and
            # the whole second of the time are the same, so such a file gets a later second.
            times = file.stat() if file.exists() else None
            project.write(f"tools_md/{path}", changed)
            if times is not None:
                later = 2_000_000_000 if ".." in path else 0
                os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns + later))

    assert _process(root).wait() == 1


def _process(root: Path) -> "subprocess.Popen[bytes]":
    """Begin a check in a process of its own, which finds modules next to the project, too."""
    places = [root / "lib", root / "site-packages", root.parent / "far"]
    environ = {**os.environ, "TOOLMD_LOAD_PLUGINS": "",
               "PYTHONPATH": os.pathsep.join(map(str, places))}  # fmt: skip
    return subprocess.Popen([sys.executable, "-m", "toolmd", "check"], cwd=root, env=environ,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
