"""A function is found where Implemented By names it, beside its file, or alone in its folder."""

import sys

import pytest
from bind_project import Project, load, parameter, tool
from test_plugins import DEFINITIONS, Packages, build_with, packages

from toolmd import Workspace
from toolmd._load.build import Snapshot
from toolmd.errors import ImplementationError
from toolmd.hooks import hookimpl

__all__ = ["packages"]

CLINIC = """
OPENED = []
def book(): return {"ran": "book", "opened": OPENED}
async def cancel(): return {"ran": "cancel", "opened": OPENED}
def _hidden(): return {"ran": "hidden"}
class Desk: ...
OPENED.append(1)
"""


def named(name: str, place: str, parameters: str = "None") -> str:
    text = tool(name, parameters)
    return text.replace(
        "**Category**: test\n", f"**Category**: test\n- **Implemented By**: {place}\n"
    )


def target(snapshot: Snapshot, name: str) -> tuple[str, str]:
    binding = snapshot.registry.tools[name].binding
    return binding.kind, binding.target


def test_a_module_of_the_folder_holds_the_functions_of_many_tools(project: Project) -> None:
    project.write("tools_md/a/clinic.py", CLINIC)
    project.write("tools_md/a/book.tool.md", tool("book"))
    project.write("tools_md/a/cancel.tool.md", tool("cancel"))
    project.write("tools_md/a/greet.tool.md", named("greet", "clinic:_hidden"))
    snapshot = project.build()

    assert target(snapshot, "book") == ("sibling", "tools_md/a/clinic.py:book")
    assert target(snapshot, "cancel") == ("sibling", "tools_md/a/clinic.py:cancel")
    assert target(snapshot, "greet") == ("sibling", "tools_md/a/clinic.py:_hidden")
    assert load(snapshot, "greet").function() == {"ran": "hidden"}
    assert load(snapshot, "greet").target == "tools_md/a/clinic.py:_hidden"


def test_the_tools_of_a_module_share_its_state(project: Project) -> None:
    project.write("tools_md/clinic.py", CLINIC)
    project.tool("book")
    project.tool("cancel")
    snapshot = project.build()

    book, cancel = load(snapshot, "book").function, load(snapshot, "cancel").function

    assert sys.modules[book.__module__] is sys.modules[cancel.__module__]
    assert book()["opened"] is book.__globals__["OPENED"]
    assert book()["opened"] == [1]


def test_implemented_by_goes_before_the_sibling_and_the_sibling_before_another_module(
    project: Project,
) -> None:
    project.write("tools_md/clinic.py", "def book(): return 'clinic'\ndef cancel(): ...")
    project.tool("book", python="def book(): return 'sibling'")
    assert load(project.build(), "book").function() == "sibling"

    project.write("tools_md/book.tool.md", named("book", "clinic:book"))

    assert load(project.build(), "book").function() == "clinic"


def test_a_module_of_another_folder_is_never_found(project: Project) -> None:
    project.write("tools_md/a/book.tool.md", tool("book"))
    project.write("tools_md/a/cancel.tool.md", named("cancel", "clinic:cancel"))
    for folder in ("", "b/", "a/c/"):
        project.write(f"tools_md/{folder}clinic.py", CLINIC)
    snapshot = project.build()

    assert target(snapshot, "book") == ("none", "")
    assert target(snapshot, "cancel") == ("entry_point", "clinic:cancel")
    with pytest.raises(ImplementationError, match="no module `clinic` is next to"):
        load(snapshot, "cancel")


@pytest.mark.parametrize(
    "python",
    [
        "class book: ...",
        "def cancel(): ...\nbook = cancel",
        "from .desk import book",
        "class Desk:\n    def book(self): ...",
        "def cancel():\n    def book(): ...",
        "def books(): ...",
        "book = lambda: 1",
    ],
)
def test_only_a_function_that_a_module_defines_is_found_without_a_word(
    project: Project, python: str
) -> None:
    project.tool("book")
    project.write("tools_md/clinic.py", python)

    assert target(project.build(), "book") == ("none", "")


@pytest.mark.parametrize("path", ["_clinic.py", "__init__.py", "plugin.py", "_clinic/__init__.py"])
def test_a_private_module_and_a_plugin_are_not_searched(project: Project, path: str) -> None:
    project.tool("book")
    project.write(f"tools_md/{path}", "def book(): ...")

    assert target(project.build(), "book") == ("none", "")


@pytest.mark.parametrize("path", ["clinic.py", "front-clinic.py", "clinic/__init__.py"])
def test_a_kebab_module_and_a_package_are_modules_of_the_folder(
    project: Project, path: str
) -> None:
    project.tool("book")
    module = path.partition("/")[0].removesuffix(".py").replace("-", "_")
    project.write("tools_md/cancel.tool.md", named("cancel", f"{module}:_cancel"))
    project.write(f"tools_md/{path}", "def book(): return 1\ndef _cancel(): return 2")
    snapshot = project.build()

    assert target(snapshot, "book") == ("sibling", f"tools_md/{path}:book")
    assert [load(snapshot, name).function() for name in ("book", "cancel")] == [1, 2]


def test_two_modules_with_the_function_leave_the_tool_without_one_and_both_are_named(
    project: Project,
) -> None:
    project.tool("book")
    project.write("tools_md/clinic.py", "if True:\n    def book(): ...")
    project.write("tools_md/desk.py", "async def book(): ...")

    assert target(project.build(), "book") == ("none", "")
    (found,) = project.inspect("book")
    assert (found.code, found.span.path) == ("ambiguous-function", "tools_md/book.tool.md")
    assert "`book` is in clinic.py and desk.py" in found.message
    assert "`Implemented By: clinic:book` or `Implemented By: desk:book`" in found.help
    with Workspace.open(project.root, overrides={"plugins": []}) as workspace:
        error = workspace.call_sync("book", {}).error
        assert error is not None
        assert error.code == "not_implemented"
        assert "clinic.py and desk.py" in error.message


def test_a_plugin_may_give_what_two_modules_leave_open(project: Project) -> None:
    class Gives:
        @hookimpl
        def toolmd_implementation(self, spec):
            return lambda: "given"

    project.tool("book")
    project.write("tools_md/clinic.py", "def book(): ...")
    project.write("tools_md/desk.py", "def book(): ...")

    bound = project.build(given={"gives": Gives()}).registry.tools["book"]

    assert bound.binding.load().function() == "given"
    assert bound.binding.inspect() == ()


def test_a_folder_plugin_that_gives_nothing_leaves_what_there_is_to_say(project: Project) -> None:
    hook = "from toolmd.hooks import hookimpl\n@hookimpl\ndef toolmd_implementation(spec): ...\n"
    project.write("tools_md/plugin.py", hook)
    project.tool("book")
    project.write("tools_md/clinic.py", "def book(): ...")
    project.write("tools_md/desk.py", "def book(): ...")

    assert [str(found.code) for found in project.inspect("book")] == ["ambiguous-function"]


def test_a_module_that_does_not_parse_is_named(project: Project) -> None:
    project.tool("book")
    project.tool("cancel")
    project.write("tools_md/clinic.py", "def book(): ...\nx = (\n")

    (found,) = project.inspect("book")

    assert (found.code, found.span.path, found.span.line) == (
        "broken-implementation",
        "tools_md/clinic.py",
        2,
    )
    assert project.build().registry.tools["cancel"].binding.kind == "none"


def test_nothing_is_imported_to_find_a_function(project: Project) -> None:
    project.tool("book")
    project.write("tools_md/cancel.tool.md", named("cancel", "clinic:book"))
    project.write("tools_md/clinic.py", "raise RuntimeError('imported')\ndef book(): ...")

    assert set(project.build().registry.tools) == {"book", "cancel"}


def test_a_file_without_the_function_names_the_module_that_has_it(project: Project) -> None:
    project.write("tools_md/clinic.py", CLINIC)
    project.tool("book", python="def books(): ...")
    project.write("tools_md/cancel.tool.md", named("cancel", "book:cancel"))
    project.write("tools_md/absent.tool.md", named("absent", "nowhere_at_all:book"))

    for name, function in (("book", "book"), ("cancel", "cancel"), ("absent", "book")):
        (found,) = project.inspect(name)
        wanted = f"`{function}` is in clinic.py: write `Implemented By: clinic:{function}`"
        assert found.help == wanted


def test_a_slip_in_the_name_of_a_function_is_reported_with_the_near_one(project: Project) -> None:
    project.write("tools_md/clinic.py", CLINIC)
    project.write("tools_md/greet.tool.md", named("greet", "clinic:boook"))

    (found,) = project.inspect("greet")

    assert (found.code, found.span.path) == ("missing-function", "tools_md/clinic.py")
    assert "name `book`" in found.help


def test_differences_of_a_shared_module_are_reported_for_each_tool(project: Project) -> None:
    project.write("tools_md/clinic.py", "def book(day: int): ...\ndef cancel() -> int: ...\n")
    project.tool("book", parameter("day"))
    project.tool("cancel")

    (drift,) = project.inspect("book")
    (gives,) = project.inspect("cancel")

    assert (drift.code, drift.span.path) == ("type-drift", "tools_md/book.tool.md")
    assert "tools_md/clinic.py:1" in drift.message
    assert (gives.code, gives.span.path) == ("type-drift", "tools_md/cancel.tool.md")
    assert "tools_md/clinic.py:2" in gives.message


@pytest.mark.usefixtures("packages")
def test_an_installed_module_is_imported_by_its_name(project: Project, packages: Packages) -> None:
    packages.install("acme", "", {"tables/desk.py": "def book(): return 'acme'"})
    project.write("tools_md/book.tool.md", named("book", "acme.tables.desk:book"))
    snapshot = project.build()

    assert target(snapshot, "book") == ("entry_point", "acme.tables.desk:book")
    assert load(snapshot, "book").function() == "acme"
    assert load(snapshot, "book").hash
    assert project.inspect("book") == []


def test_a_module_of_the_folder_goes_before_an_installed_one(
    project: Project, packages: Packages
) -> None:
    packages.install("acme", "def book(): return 'installed'")
    project.write("tools_md/book.tool.md", named("book", "acme:book"))
    assert load(project.build(), "book").function() == "installed"

    project.write("tools_md/acme.py", "def book(): return 'beside'")

    assert load(project.build(), "book").function() == "beside"


@pytest.mark.parametrize(
    ("code", "place", "said"),
    [
        ("raise OSError('no disk')", "acme:book", "can't be imported: OSError: no disk"),
        ("import nothing_of_the_kind", "acme:book", "nothing_of_the_kind"),
        ("raise SystemExit", "acme:book", "SystemExit"),
        ("x = (", "acme:book", "'(' was never closed"),
        ("", "acme:book", "the module acme has no function `book`"),
        ("book = 3", "acme:book", "the module acme has no function `book`"),
        ("", "acme.desk:book", "no module `acme.desk` is next to"),
        ("", "nothing_like_it:book", "no module `nothing_like_it` is next to"),
        ("", "__main__:book", "no module `__main__` is next to"),
    ],
)
def test_an_installed_module_that_can_not_run_is_a_diagnostic(
    project: Project, packages: Packages, code: str, place: str, said: str
) -> None:
    packages.install("acme", code)
    project.write("tools_md/book.tool.md", named("book", place))

    (found,) = project.inspect("book")

    assert said in found.message
    assert found.help
    with Workspace.open(project.root, overrides={"plugins": []}) as workspace:
        assert not workspace.call_sync("book", {}).success


def test_the_modules_of_another_snapshot_are_out_of_reach(project: Project) -> None:
    project.tool("book", python="def book(): ...")
    snapshot = project.build()
    inside = load(snapshot, "book").function.__module__
    project.write("tools_md/cancel.tool.md", named("cancel", f"{inside}:book"))

    with pytest.raises(ImplementationError, match="none is installed"):
        load(project.build(), "cancel")


def test_a_plugin_package_looks_into_its_own_folder_first(
    project: Project, packages: Packages
) -> None:
    packages.install("desk", "def book(): return 'installed'")
    packages.install(
        "acme",
        DEFINITIONS,
        {
            "tools/__init__.py": "",
            "tools/desk.py": "def book(): return 'own'\ndef greet(): return 'hi'",
            "tools/book.tool.md": named("book", "desk:book"),
            "tools/greet.tool.md": tool("greet"),
        },
    )

    snapshot = build_with(project, ["acme"])

    assert load(snapshot, "book").function() == "own"
    assert load(snapshot, "greet").function() == "hi"
    assert load(snapshot, "greet").function.__module__ == "acme.tools.desk"
    assert target(snapshot, "greet")[0] == "entry_point"


def test_a_module_with_hooks_that_is_a_plugin_already_still_implements(
    project: Project, packages: Packages
) -> None:
    root = DEFINITIONS.replace(" / 'tools'", "")
    packages.install(
        "acme",
        f"{root}\ndef book(): return 'own'\n",
        {"sub/greet.tool.md": named("greet", "acme:book")},
    )

    assert load(build_with(project, ["acme"]), "greet").function() == "own"


def test_a_skill_is_not_run_by_a_function_that_only_shares_its_name(project: Project) -> None:
    skill = (
        "# Greet\n\nGreets.\n\n## Metadata\n\n- **Name**: greet\n- **Version**: 1.0.0\n"
        "- **Category**: test\n- **Required Tools**: book\n\n## Workflow\n\n1. **Do** it.\n"
        "   - **Use**: book\n\n## Input Schema\n\nNone\n\n## Output Schema\n\n"
        "- **Type**: object (SkillResult)\n"
    )
    project.tool("book", python="def book(): ...\ndef greet(): ...")
    project.write("tools_md/greet.skill.md", skill)

    assert project.build().registry.skills["greet"].binding.kind == "none"

    project.write("tools_md/greet.py", "def greet(): ...")
    bound = project.build().registry.skills["greet"]
    assert (bound.binding.kind, bound.binding.target) == ("sibling", "tools_md/greet.py:greet")
