"""An install of toolmd stays small, and the README says how small."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution, requires
from pathlib import Path

from lint import HOSTS
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
MOST_PACKAGES = 24
MOST_MB = 26


@cache
def plain() -> dict[str, float]:
    """Return the packages of an install without extras, with their sizes in MB, no bytecode."""
    found = {"toolmd": size(ROOT / "framework" / "toolmd")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = [Requirement(text) for text in project["dependencies"]]
    seen = set()
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if (name, *one.extras) in seen:
            continue
        seen.add((name, *one.extras))
        files = distribution(name).files or []
        places = (Path(str(file.locate())) for file in files)
        found[name] = sum(map(weight, places)) / 1e6
        waiting += required(one)
    return found


def required(one: Requirement) -> Iterator[Requirement]:
    for text in requires(one.name) or []:
        below = Requirement(text)
        wanted = ("", *one.extras)
        if below.marker is None or any(below.marker.evaluate({"extra": name}) for name in wanted):
            yield below


def weight(path: Path) -> int:
    return path.stat().st_size if path.suffix != ".pyc" and path.is_file() else 0


def size(folder: Path) -> float:
    return sum(map(weight, folder.rglob("*"))) / 1e6


def test_a_plain_install_is_small() -> None:
    found = plain()

    assert len(found) <= MOST_PACKAGES, sorted(found)
    assert sum(found.values()) <= MOST_MB, found


def test_the_extra_all_holds_each_extra_of_a_feature() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]

    (everything,) = map(Requirement, extras["all"])
    assert everything.name == "toolmd"
    assert everything.extras == extras.keys() - HOSTS - {"all", "clinic", "dev"}


def test_the_readme_says_how_much_an_install_is() -> None:
    found = plain()
    readme = (ROOT / "README.md").read_text("utf-8")

    packages, total = re.search(r"brings (\d+) packages, (\d+) MB", readme).groups()

    assert int(packages) == len(found)
    # Wheels for other Pythons are larger or smaller.
    assert abs(int(total) - sum(found.values())) <= 2
