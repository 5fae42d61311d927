"""Every package of this repository names the same Pythons: those that `make test-pythons` tests."""

import tomllib

import pytest
from installing import ROOT

from pythons import classified

PLUGINS = sorted(ROOT.glob("plugins/*/pyproject.toml"))


@pytest.mark.parametrize("file", PLUGINS, ids=lambda file: file.parent.name)
def test_a_plugin_names_the_pythons_that_toolmd_names(file) -> None:
    project = tomllib.loads(file.read_text("utf-8"))["project"]

    named = [one for one in project["classifiers"] if " :: Python :: " in one]

    numbers = [one.rpartition(" ")[2] for one in named]
    assert numbers == classified() == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == ">=3.11"
