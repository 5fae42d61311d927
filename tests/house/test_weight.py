"""What `pip install toolmd` brings stays small, and the README says what it is."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
MOST_PACKAGES = 36
MOST_MB = 104
FOR_POSTGRES = {"psycopg", "psycopg-binary"}


@cache
def plain() -> dict[str, float]:
    """Give the packages of an install without extras, with their sizes in MB, no bytecode."""
    found = {"toolmd": size(ROOT / "framework" / "toolmd")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = [Requirement(text) for text in project["dependencies"]]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        if name not in found:
            files = distribution(name).files or []
            places = (Path(str(file.locate())) for file in files)
            found[name] = sum(map(weight, places)) / 1e6
        waiting += (below for below in required(one) if canonicalize_name(below.name) not in found)
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


def test_a_plain_install_has_few_packages_and_is_small() -> None:
    found = plain()

    assert len(found) <= MOST_PACKAGES, sorted(found)
    assert sum(found.values()) <= MOST_MB, found


def test_a_plain_install_brings_no_driver_of_postgres() -> None:
    assert plain().keys() & (FOR_POSTGRES | {"dbos"}) == set()


def test_the_readme_lists_what_is_installed_with_sizes_as_measured() -> None:
    found = plain()
    readme = (ROOT / "README.md").read_text("utf-8")
    section = readme.partition("## What is installed, and why")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+) \|", section, re.MULTILINE)
    told = {name.strip(): float(mb) for name, mb in rows}

    heavy = {name for name, mb in found.items() if mb >= 1}
    assert heavy <= told.keys()
    wrong = {
        name: found[name]
        for name in heavy
        if abs(told[name] - found[name]) > 0.2 + 0.1 * told[name]
    }
    assert wrong == {}
    (packages, total) = re.search(r"(\d+) packages, (\d+) MB", section).groups()
    assert int(packages) == len(found)
    assert abs(int(total) - sum(found.values())) <= 2
