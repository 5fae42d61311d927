"""An install of toolmd stays small, and the README lists its packages."""

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
MOST_PACKAGES = 34
MOST_MB = 52 if sys.version_info < (3, 14) else 56
"""Wheels for Python 3.14 are larger."""
DRIVER = {"psycopg", "psycopg-binary"}
"""DBOS itself requires the Postgres driver, so a plain install has it, used or not."""


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


def test_a_plain_install_is_small_but_for_the_driver_that_dbos_requires() -> None:
    found = {name: mb for name, mb in plain().items() if name not in DRIVER}

    assert len(found) <= MOST_PACKAGES, sorted(found)
    assert sum(found.values()) <= MOST_MB, found


def test_the_project_itself_requires_the_driver_only_as_an_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert not [one for one in project["dependencies"] if one.startswith("psycopg")]
    assert [one for one in project["optional-dependencies"]["postgres"] if "psycopg" in one]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the README has the sizes of Python 3.11")
def test_the_readme_lists_the_installed_packages_with_their_sizes() -> None:
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
