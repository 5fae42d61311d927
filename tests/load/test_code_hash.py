"""The hash of an implementation: it changes with all Python of the project."""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from bind_project import Project, tool
from test_plugins import DEFINITIONS, Packages, build_with, packages

from toolmd._load.build import Snapshot
from toolmd.hooks import hookimpl

__all__ = ["packages"]


def hash_of(snapshot: Snapshot, name: str = "pay") -> str:
    load = snapshot.registry.tools[name].binding.load
    assert load is not None
    found: str = load().hash
    return found


PAY = "def pay(): return send()\n"
SEND = "def send(): return 1\n"
LAZY = """
import importlib
def __getattr__(name):
    return importlib.import_module(f'..{name}', __name__)
"""
COVERED = {
    "a module beside it": ("from .bank import send\n" + PAY, {"bank.py": SEND}),
    "a module of a package": (
        "from .._lib.deep.bank import send\n" + PAY,
        {"../_lib/deep/bank.py": SEND},
    ),
    "a module by its package": ("from .. import bank\ndef pay(): ...", {"../bank.py": SEND}),
    "what a module imports in turn": (
        "from .bank import send\n" + PAY,
        {"wire.py": SEND, "bank.py": "from . import wire\nsend = wire.send\n"},
    ),
    "a circle of imports": (
        "from . import bank\n" + PAY,
        {"bank.py": SEND + "from . import wire\n", "wire.py": "from . import bank\n"},
    ),
    "a package's own file": (
        "from .lib import bank\n" + PAY,
        {"lib/__init__.py": "", "lib/bank.py": ""},
    ),
    "the package in which it lies": ("def pay(): ...", {"__init__.py": "N = 1"}),
    "the folder's own file": ("def pay(): ...", {"../__init__.py": "N = 1"}),
    "an import inside the function": (
        "def pay():\n    from .bank import send\n    return send()\n",
        {"bank.py": SEND},
    ),
    "an import under a condition": (
        "try:\n    from .bank import send\nexcept ImportError:\n    send = print\n" + PAY,
        {"bank.py": SEND},
    ),
    "a star": ("from .bank import *\n" + PAY, {"bank.py": SEND}),
    "a package's star": (
        "from .lib import *\n" + PAY,
        {"lib/bank.py": SEND, "lib/__init__.py": "__all__ = ['bank']"},
    ),
    "an attribute of a package": (
        "from . import lib\ndef pay(): return lib.bank.send()\n",
        {"lib/bank.py": SEND},
    ),
    "a stated import_module": (
        "import importlib\ndef pay(): return importlib.import_module('.bank', __package__)\n",
        {"bank.py": SEND},
    ),
    "a computed import_module": (
        "from importlib import import_module as get\ndef pay(): get('.' + 'bank', __package__)",
        {"bank.py": SEND, "../far/away.py": SEND},
    ),
    "__import__": ("def pay(): return __import__(__package__ + '.bank')\n", {"bank.py": SEND}),
    "exec of a file": ("def pay(): exec(open('bank.py').read())\n", {"bank.py": SEND}),
    "a lazy package": (
        "from .lib import bank\ndef pay(): ...",
        {
            "lib/__init__.py": LAZY,
            "bank.py": SEND,
        },
    ),
}


@pytest.mark.parametrize("case", COVERED)
def test_the_hash_changes_with_each_module_that_the_function_imports(
    project: Project, case: str
) -> None:
    python, files = COVERED[case]
    project.write("tools_md/money/pay.tool.md", tool("pay"))
    project.write("tools_md/money/pay.py", python)
    project.write("tools_md/other.py", "N = 1")
    for path, text in files.items():
        project.write(f"tools_md/money/{path}", text)
    before = hash_of(project.build())
    assert hash_of(project.build()) == before

    for path, text in files.items():
        project.write(f"tools_md/money/{path}", text + "\n# changed\n")
        assert hash_of(project.build()) != before, path
        project.write(f"tools_md/money/{path}", text)
    assert hash_of(project.build()) == before


def test_all_python_of_the_project_is_covered_imported_or_not(project: Project) -> None:
    project.tool("pay", python=PAY)
    before = hash_of(project.build())

    for path in ("tools_md/new.py", "tools_md/deep/er.py", "src/money.py", "setup.py"):
        project.write(path, "N = 2")
        after = hash_of(project.build())
        assert after != before, path
        before = after


@pytest.mark.parametrize(
    "path",
    [".venv/lib/money.py", "env/lib/site-packages/money.py", "named/money.py", ".git/hook.py",
     "node_modules/money.py", "src/__pycache__/money.py", "src/money.txt"],
)  # fmt: skip
def test_environments_hidden_folders_and_other_files_are_not_covered(
    project: Project, path: str
) -> None:
    project.tool("pay", python=PAY)
    project.write("named/pyvenv.cfg", "")
    before = hash_of(project.build())

    project.write(path, "N = 2")

    assert hash_of(project.build()) == before


def test_a_module_that_replaces_another_changes_the_hash(project: Project) -> None:
    project.tool("pay", python="from .bank import send\n" + PAY)
    project.write("tools_md/bank/__init__.py", SEND)
    before = hash_of(project.build())

    project.write("tools_md/bank/send.py", "")

    assert hash_of(project.build()) != before


PROVIDES = """
from toolmd.hooks import hookimpl
from ._bank import Bank, kept
@hookimpl
def toolmd_resources(registry, settings):
    from ._wire import wire
    registry.register_value(Bank, Bank())
"""


@pytest.mark.parametrize("path", ["plugin.py", "_bank.py", "_wire.py"])
@pytest.mark.parametrize(
    "pay",
    [
        "from ._types import Bank\ndef pay(*, bank: Bank): ...",
        "async def pay(*, context): return await context.resource(object)",
    ],
)
def test_the_plugin_that_registers_resources_is_covered_where_a_tool_takes_one(
    project: Project, path: str, pay: str
) -> None:
    project.write("tools_md/plugin.py", PROVIDES)
    project.write("tools_md/_types.py", "class Bank: ...\n")
    project.write("tools_md/_bank.py", "from ._types import Bank\nkept = 1\n")
    project.write("tools_md/_wire.py", "wire = 1\n")
    project.tool("pay", python=pay)
    before = hash_of(project.build())

    file = project.root / "tools_md" / path
    file.write_text(file.read_text() + "# changed\n")

    assert hash_of(project.build()) != before


def test_an_order_of_loading_does_not_change_the_hash(project: Project) -> None:
    project.write("tools_md/plugin.py", PROVIDES)
    project.write("tools_md/_bank.py", "class Bank: ...\nkept = 1\n")
    project.write("tools_md/_wire.py", "wire = 1\n")
    project.tool("pay", python="from ._bank import Bank\ndef pay(*, bank: Bank): ...")
    hooks = "from toolmd.hooks import hookimpl\n@hookimpl\ndef toolmd_resources(registry): ...\n"
    project.tool("other", python=hooks + "def other(): ...")
    first, second = project.build(), project.build()

    hash_of(second, "other")

    assert hash_of(first) == hash_of(second)


GIVES = """
from toolmd.hooks import hookimpl
from ._bank import made
@hookimpl
def toolmd_implementation(spec):
    return made()
"""


@pytest.mark.parametrize("path", ["plugin.py", "_bank.py", "_wrap.py"])
def test_the_plugin_that_provides_the_implementation_is_covered(
    project: Project, path: str
) -> None:
    project.write("tools_md/plugin.py", GIVES)
    project.write(
        "tools_md/_bank.py",
        "import functools\nfrom ._wrap import wrapped\n"
        "def pay(): ...\ndef made(): return functools.partial(wrapped(pay))\n",
    )
    project.write(
        "tools_md/_wrap.py",
        "import functools\ndef wrapped(function):\n"
        "    return functools.wraps(function)(lambda: function())\n",
    )
    project.tool("pay")
    before = hash_of(project.build())
    assert before

    file = project.root / "tools_md" / path
    file.write_text(file.read_text() + "# changed\n")

    assert hash_of(project.build()) != before


def test_a_given_plugins_function_has_a_hash(project: Project) -> None:
    class Gives:
        @hookimpl
        def toolmd_implementation(self, spec: object) -> Any:
            return lambda: 1

    project.tool("pay")

    assert hash_of(project.build(given={"mine": Gives()}))


def test_a_module_of_the_project_that_is_imported_by_its_full_name_is_covered(
    project: Project, packages: Packages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(project.root / "src")
    project.write("src/money/__init__.py", "")
    project.write("src/money/bank.py", "from money import wire\nsend = wire.send")
    project.write("src/money/wire.py", SEND)
    foreign = project.write(".venv/lib/site-packages/foreign.py", "")
    monkeypatch.syspath_prepend(foreign.parent)
    project.tool("pay", python="import foreign\ndef pay():\n    from money.bank import send\n")
    before = hash_of(project.build())

    foreign.write_text("N = 2")
    assert hash_of(project.build()) == before
    project.write("src/money/wire.py", SEND + "# changed\n")
    assert hash_of(project.build()) != before


@pytest.mark.process
def test_a_packages_modules_are_covered_in_each_process(
    project: Project, packages: Packages
) -> None:
    files = {
        "tools/pay.tool.md": tool("pay"),
        "tools/pay.py": "from ..bank import send\n" + PAY,
        "bank.py": "from brings_bank.wire import send\n",
        "wire.py": SEND,
    }
    packages.install("brings-bank", DEFINITIONS, files)
    says = textwrap.dedent("""
        import sys
        sys.path[:0] = [sys.argv[1], sys.argv[2]]
        from pathlib import Path
        from bind_project import Project
        from test_plugins import build_with
        from test_code_hash import hash_of
        project = object.__new__(Project)
        project.root = Path(sys.argv[3])
        print(hash_of(build_with(project, ["brings-bank"])))
    """)

    def in_a_new_process() -> str:
        here = Path(__file__).parent
        command = [sys.executable, "-c", says, str(packages.root), str(here), str(project.root)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    before = hash_of(build_with(project, ["brings-bank"]))
    assert in_a_new_process() == before
    package = packages.root / "brings_bank"
    (package / "wire.py").write_text(SEND + "# changed\n")
    after = hash_of(build_with(project, ["brings-bank"]))
    assert after != before
    assert in_a_new_process() == after
