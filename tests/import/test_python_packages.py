"""Which functions of a module are tools: the ones that it offers."""

import json
from pathlib import Path

import pytest
from tests.command import run_command

from toolmd._import.python import list_functions, read

FILES = {
    "shop/_rates.py": "def rate(kind: str) -> float: ...\ndef round_up(sum: float) -> float: ...\n",
    "shop/orders.py": "def find(number: int) -> str: ...\ndef place(number: int) -> str: ...\n",
}
INIT = "from textwrap import dedent\nfrom shop._rates import rate\nfrom shop.orders import find\n"
LAZY = "def __getattr__(name):\n    import shop.orders\n    return getattr(shop.orders, name)\n"


def offered(folder: Path, init: str) -> list[str]:
    for name, text in {**FILES, "shop/__init__.py": init}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    text = list_functions(str(folder / "shop" / "__init__.py"))
    return [draft.name for draft in read(text, "shop").drafts]


def test_a_package_offers_what_it_takes_from_its_own_modules(tmp_path: Path) -> None:
    assert offered(tmp_path, INIT) == ["rate", "find"]


@pytest.mark.parametrize(
    ("init", "names"),
    [
        (f"{INIT}__all__ = ['find', 'dedent']\n", ["find", "dedent"]),
        (f"{INIT}__all__ = []\n", []),
        (f"{LAZY}__all__ = ['place', 'missing']\n", ["place"]),
    ],
    ids=["named", "nothing", "made when looked at"],
)
def test_a_module_with_a_list_of_names_offers_these_alone(
    tmp_path: Path, init: str, names: list[str]
) -> None:
    assert offered(tmp_path, init) == names


def test_a_module_without_functions_is_rejected_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("from textwrap import dedent\n")
    done = run_command(tmp_path, "import", "python", "empty.py")

    assert done.code == 1
    assert "no public function of its own: name some after a colon" in done.err


def test_the_tools_of_a_package_stand_next_to_it_and_work(tmp_path: Path) -> None:
    (tmp_path / "toolmd.toml").write_text('plugins = []\naudit = false\nstore = "memory"\n')
    offered(tmp_path / "tools_md", "def double(count: int) -> int:\n    return 2 * count\n")
    done = run_command(tmp_path, "import", "python", "tools_md/shop/__init__.py")
    assert "made tools_md/double.tool.md" in done.out
    called = run_command(tmp_path, "call", "double", "count=4", "--json")

    assert json.loads(called.out)["data"] == 8


def test_functions_of_an_installed_package_are_called_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "toolmd.toml").write_text('plugins = []\naudit = false\nstore = "memory"\n')
    done = run_command(tmp_path, "import", "python", "shlex")
    assert "made tools_md/quote.tool.md" in done.out
    called = run_command(tmp_path, "call", "quote", "s=a b", "--json")

    assert json.loads(called.out)["data"] == "'a b'"
