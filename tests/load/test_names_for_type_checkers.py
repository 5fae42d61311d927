"""Annotations by names that a module imports below `if TYPE_CHECKING` are read like others."""

import datetime as dt
import sys
from pathlib import Path

import pytest
from bind_project import Project, parameter

LATER = "from __future__ import annotations\n"
HEAD = """\
import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    import no_such_module
    import a_heavy_module
    Days = Sequence[dt.date]
"""
DATE = "- **Format**: date\n"
ARRAY = "- **Items**: string\n"


@pytest.fixture(params=[LATER, ""], ids=["with an import", "as Python does"])
def later(request: pytest.FixtureRequest) -> str:
    """What makes Python read an annotation only when somebody asks for it."""
    if not request.param and sys.version_info < (3, 14):
        pytest.skip("Python reads annotations at once before 3.14")
    return request.param


@pytest.fixture(params=["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def head(later: str, request: pytest.FixtureRequest) -> str:
    return later + HEAD.replace("if TYPE_CHECKING", f"if {request.param}")


def test_a_value_becomes_what_such_an_annotation_asks_for(project: Project, head: str) -> None:
    project.tool("one", parameter("day", extra=DATE), f"{head}\ndef one(day: dt.date): ...")

    assert project.inspect("one") == []
    loaded = project.build().registry.tools["one"].binding.load()
    assert loaded.converters["day"]("2026-11-26") == dt.date(2026, 11, 26)


def test_a_name_that_needs_other_names_is_read(project: Project, head: str) -> None:
    fields = parameter("days", "array", extra=ARRAY)
    project.tool("one", fields, f"{head}\ndef one(days: Days | None): ...")

    assert project.inspect("one") == []


def test_such_an_annotation_is_compared_with_the_file(project: Project, head: str) -> None:
    project.tool("one", parameter("days", "integer"), f"{head}\ndef one(days: Days): ...")

    (found,) = project.inspect("one")
    assert "`days`:" in found.message


def test_a_name_that_cannot_be_imported_is_a_warning(project: Project, head: str) -> None:
    python = f"{head}\ndef one(day: no_such_module.Day): ...\n"
    project.tool("one", parameter("day"), python)

    (found,) = project.inspect("one")
    assert found.severity == "warning"
    assert "the annotation of `day` can't be read: name 'no_such_module'" in found.message
    assert "until then, the value is passed as JSON has it" in (found.help or "")


def test_an_import_that_ends_the_program_is_a_warning(
    project: Project, head: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch
) -> None:
    folder: Path = tmp_path_factory.mktemp("installed")
    (folder / "a_heavy_module.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(folder)
    project.tool("one", parameter("day"), f"{head}\ndef one(day: a_heavy_module.Day): ...")

    (found,) = project.inspect("one")
    assert found.severity == "warning"


def test_an_import_that_no_parameter_needs_never_runs(project: Project, head: str) -> None:
    project.write("tools_md/a_heavy_module.py", "raise SystemExit('imported')\n")
    project.tool("one", parameter("day", extra=DATE), f"{head}\ndef one(day: dt.date): ...")

    assert project.inspect("one") == []
    assert not any(name.endswith("a_heavy_module") for name in sys.modules)


def test_the_annotations_of_an_installed_module_are_read_too(
    project: Project, head: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch
) -> None:
    folder: Path = tmp_path_factory.mktemp("installed")
    (folder / "calendar_of_days.py").write_text(f"{head}\ndef one(day: dt.date): ...\n")
    monkeypatch.syspath_prepend(folder)
    project.tool("one", parameter("day", extra=DATE))
    file = project.root / "tools_md/one.tool.md"
    named = "- **Implemented By**: calendar_of_days:one\n- **Version**"
    file.write_text(file.read_text().replace("- **Version**", named))

    assert project.inspect("one") == []
    assert "day" in project.build().registry.tools["one"].binding.load().converters
