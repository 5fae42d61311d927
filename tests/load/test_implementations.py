"""The Python next to a definition: found, compiled, and kept with its snapshot."""

import gc
import linecache
import sys
import traceback

import pytest
from bind_project import Project, load, parameter, tool

from toolmd.errors import ImplementationError


@pytest.mark.parametrize(
    ("markdown", "python"),
    [
        ("book-it.tool.md", "book_it.py"),
        ("book-it.tool.md", "book-it.py"),
        ("book_it.tool.md", "book_it.py"),
        ("book_it.tool.md", "book-it.py"),
    ],
)
def test_a_sibling_is_found_by_its_stem_in_kebab_or_snake(
    project: Project, markdown: str, python: str
) -> None:
    project.write(f"tools_md/sub/{markdown}", tool("book_it"))
    project.write(f"tools_md/sub/{python}", "def book_it(): return 7")

    snapshot = project.build()

    assert snapshot.registry.tools["book_it"].binding.kind == "sibling"
    assert load(snapshot, "book_it").function() == 7


def test_python_in_another_folder_is_not_a_sibling(project: Project) -> None:
    project.write("tools_md/a/one.tool.md", tool("one"))
    project.write("tools_md/b/one.py", "def one(): ...")

    assert project.build().registry.tools["one"].binding.kind == "none"


def test_nothing_is_imported_before_it_is_used(project: Project) -> None:
    project.tool("one", python="raise RuntimeError('imported')")
    project.write("tools_md/plugin.py", "raise RuntimeError('imported')")

    assert list(project.build().registry.tools) == ["one"]


def test_modules_of_a_folder_know_each_other_by_relative_imports(project: Project) -> None:
    project.write("tools_md/a/one.tool.md", tool("one"))
    project.write("tools_md/a/one.py", "from .._store.shelf import STORE\ndef one(): return STORE")
    project.write("tools_md/_store/shelf.py", "from . import deep\nSTORE = deep.VALUE")
    project.write("tools_md/_store/deep/__init__.py", "VALUE = 'kept'")

    assert load(project.build(), "one").function() == "kept"


def test_an_edit_of_equal_length_within_the_same_second_runs_the_new_code(
    project: Project,
) -> None:
    project.tool("one", python="from ._help import N\ndef one(): return (1, N)")
    project.write("tools_md/_help.py", "N = 1")
    before = load(project.build(), "one")
    project.write("tools_md/one.py", "from ._help import N\ndef one(): return (2, N)")
    project.write("tools_md/_help.py", "N = 2")

    after = load(project.build(), "one")

    assert before.function() == (1, 1)
    assert after.function() == (2, 2)
    assert before.hash != after.hash
    assert not list(project.root.rglob("*.pyc"))


def test_a_snapshot_loads_the_bytes_that_it_read_even_when_the_file_has_changed(
    project: Project,
) -> None:
    project.tool("one", python="def one():\n    from ._help import N\n    return N")
    project.write("tools_md/_help.py", "N = 'old'")
    snapshot = project.build()
    project.write("tools_md/_help.py", "N = 'new'")
    project.write("tools_md/one.py", "gone")

    assert load(snapshot, "one").function() == "old"


def test_an_unreferenced_snapshot_leaves_no_module_behind(project: Project) -> None:
    project.tool("one", python="def one(): return 1")
    snapshot = project.build()
    load(snapshot, "one")
    root = snapshot.plugins.modules.root
    assert f"{root}.tools_md.one" in sys.modules

    del snapshot
    gc.collect()

    assert not [name for name in sys.modules if name.startswith(root)]


def test_a_traceback_shows_the_lines_that_ran(project: Project) -> None:
    project.tool("one", python="def one():\n    raise ValueError('as it was')\n")
    implementation = load(project.build(), "one")
    project.write("tools_md/one.py", "# another\n# text\n")
    linecache.checkcache()

    with pytest.raises(ValueError, match="as it was") as raised:
        implementation.function()

    assert "raise ValueError('as it was')" in "".join(traceback.format_exception(raised.value))


def test_dataclasses_and_annotations_of_a_private_module_resolve(project: Project) -> None:
    python = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "import datetime as dt\n@dataclass\nclass When:\n    day: dt.date\n"
        "def one(*, when: When): return when\n"
    )
    fields = "- **Properties**:\n  - **day**:\n    - **Type**: string\n    - **Required**: true\n"
    project.tool("one", parameter("when", "object", extra=fields), python)

    implementation = load(project.build(), "one")

    assert implementation.converters["when"]({"day": "2026-01-02"}).day.year == 2026


@pytest.mark.parametrize(
    ("python", "code", "line"),
    [
        ("import nowhere_to_be_found\ndef one(): ...", "broken-implementation", 1),
        ("x = 1\ndef one(:\n", "broken-implementation", 2),
        ("\n\nraise SystemExit", "broken-implementation", 3),
        ("def two(): ...", "missing-function", 1),
        ("one = 3", "missing-function", 1),
        (b"\xff\xfe", "broken-implementation", 1),
    ],
)
def test_broken_python_is_reported_with_its_place_and_the_rest_works(
    project: Project, python: str | bytes, code: str, line: int
) -> None:
    project.tool("one")
    project.write("tools_md/one.py", python)
    project.tool("good", python="def good(): return 1")
    snapshot = project.build()

    (found,) = project.inspect("one")

    assert (found.code, found.span.path, found.span.line) == (code, "tools_md/one.py", line)
    assert "tools_md/one.tool.md" in found.message
    assert load(snapshot, "good").function() == 1
    with pytest.raises(ImplementationError, match=r"one\.tool\.md"):
        load(snapshot, "one")


def test_a_function_of_another_name_is_suggested(project: Project) -> None:
    project.tool("send_note", python="from os import getcwd\ndef send_notes(): ...")

    (found,) = project.inspect("send_note")

    assert "rename send_notes" in found.help


def test_a_failed_import_is_tried_again(project: Project) -> None:
    project.tool("one", python="import os\nif 'ONE_WORKS' not in os.environ: raise OSError\n"
                 "def one(): return 1")  # fmt: skip
    snapshot = project.build()
    with pytest.raises(ImplementationError):
        load(snapshot, "one")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ONE_WORKS", "1")

        assert load(snapshot, "one").function() == 1


def test_folders_of_one_name_do_not_share_modules(project: Project) -> None:
    project.write("toolmd.toml", 'tools = ["a/defs", "b/defs"]')
    for side in "ab":
        project.write(f"{side}/defs/{side}1.tool.md", tool(f"{side}1"))
        python = f"from ._x import X\ndef {side}1(): return X"
        project.write(f"{side}/defs/{side}1.py", python)
        project.write(f"{side}/defs/_x.py", f"X = '{side}'")
    snapshot = project.build()

    assert [load(snapshot, name).function() for name in ("a1", "b1")] == ["a", "b"]


def test_a_folder_with_a_dot_in_its_name_may_contain_python(project: Project) -> None:
    project.write("tools_md/v1.2/one.tool.md", tool("one"))
    project.write("tools_md/v1.2/one.py", "from . import _y\ndef one(): return _y.Y")
    project.write("tools_md/v1.2/_y.py", "Y = 5")

    assert load(project.build(), "one").function() == 5
