"""Markdown and Python compared: each difference is reported with both places."""

import textwrap

import pytest
from bind_project import Project, parameter

from toolmd.errors import ImplementationError
from toolmd.hooks import hookimpl


class Shelf:
    """A resource."""


class Provides:
    @hookimpl
    def toolmd_resources(self, registry):
        registry.register_value(Shelf, Shelf())


def test_sides_that_agree_have_no_findings(project: Project) -> None:
    project.tool(
        "one",
        parameter("patientId") + parameter("num-children", "integer") + parameter("class"),
        "def one(patient_id: str, num_children: int, class_, *, context): ...",
    )

    assert project.inspect("one") == []
    implementation = project.build().registry.tools["one"].binding.load()
    assert implementation.names["patientId"] == "patient_id"
    assert implementation.names["class"] == "class_"
    assert implementation.context == "context"


def test_a_parameter_that_python_lacks_is_reported_with_both_places(project: Project) -> None:
    project.tool("one", parameter("date") + parameter("hour"), "\n\ndef one(date: str): ...")

    (found,) = project.inspect("one")

    assert found.code == "parameter-drift"
    assert found.severity == "error"
    assert found.span.path == "tools_md/one.tool.md"
    text = (project.root / "tools_md/one.tool.md").read_text().splitlines()
    assert text[found.span.line - 1] == "### hour"
    assert found.span.column == 5
    assert "Python: tools_md/one.py:3" in found.message


def test_a_parameter_that_the_markdown_lacks_is_reported_with_both_places(project: Project) -> None:
    project.tool("one", python="def one(\n    date: str,\n): ...")

    (found,) = project.inspect("one")

    assert found.code == "parameter-drift"
    assert "Python: tools_md/one.py:2" in found.message
    assert found.span == ("tools_md/one.tool.md", 1, 1, 1, 2)


def test_a_parameter_with_a_default_may_be_pythons_own(project: Project) -> None:
    project.tool("one", python="def one(verbose=False, *extra, **more): ...")

    assert project.inspect("one") == []


def test_an_optional_parameter_needs_a_default_in_python(project: Project) -> None:
    project.tool("one", parameter("date", required=False), "def one(date): ...")

    (found,) = project.inspect("one")

    assert found.code == "parameter-drift"
    assert "has no default" in found.message


def test_a_default_in_the_markdown_is_enough(project: Project) -> None:
    given = parameter("date", required=False, extra="- **Default**: today")
    project.tool("one", given, "def one(date): ...")

    assert project.inspect("one") == []


def test_keyword_arguments_accept_all_parameters(project: Project) -> None:
    project.tool("one", parameter("a") + parameter("b"), "def one(**given): ...")

    assert project.inspect("one") == []


def test_a_positional_only_parameter_can_not_be_given(project: Project) -> None:
    project.tool("one", parameter("a"), "def one(a, /): ...")

    assert {d.code for d in project.inspect("one")} == {"parameter-drift"}


@pytest.mark.parametrize(
    ("type_", "annotation"),
    [
        ("string", "int"),
        ("integer", "str"),
        ("boolean", "int"),
        ("integer", "bool"),
        ("array", "dict"),
        ("object", "list[str]"),
        ("string", "list"),
        ("number", "bool"),
        ("string | array", "str"),
    ],
)
def test_a_type_that_is_too_narrow_is_reported(
    project: Project, type_: str, annotation: str
) -> None:
    project.tool("one", parameter("value", type_), f"def one(value: {annotation}): ...")

    found = project.inspect("one")

    assert [d.code for d in found] == ["type-drift"]
    assert annotation.partition("[")[0] in found[0].message


def test_a_whole_number_for_a_number_is_a_warning_and_converts(project: Project) -> None:
    project.tool("one", parameter("value", "number"), "def one(value: int): return value")

    (found,) = project.inspect("one")
    convert = project.build().registry.tools["one"].binding.load().converters["value"]

    assert found.severity == "warning"
    assert convert(2.0) == 2
    with pytest.raises(ValueError, match="fraction"):
        convert(2.5)


def test_a_resource_is_provided_by_its_type(project: Project) -> None:
    project.write(
        "tools_md/plugin.py",
        textwrap.dedent("""
            from toolmd.hooks import hookimpl
            from ._shelf import Shelf

            @hookimpl
            def toolmd_resources(registry, settings):
                registry.register_value(Shelf, Shelf())
        """),
    )
    project.write("tools_md/_shelf.py", "class Shelf: ...")
    project.tool("one", python="from ._shelf import Shelf\ndef one(*, shelf: Shelf): return shelf")

    implementation = project.build().registry.tools["one"].binding.load()

    assert implementation.resources["shelf"].__name__ == "Shelf"


def test_a_resource_without_a_provider_is_reported(project: Project) -> None:
    project.tool("one", python="class Shelf: ...\ndef one(*, shelf: Shelf): ...")

    (found,) = project.inspect("one")

    assert found.code == "unprovided-parameter"
    assert "Shelf" in found.message


def test_a_resource_that_may_be_missing_is_left_out(project: Project) -> None:
    project.tool("one", python="class S: ...\ndef one(*, shelf: S | None = None): ...")

    assert project.inspect("one") == []
    assert not project.build().registry.tools["one"].binding.load().resources


def test_the_context_is_given_by_name_or_by_type(project: Project) -> None:
    project.tool("one", python="from toolmd import Context\ndef one(*, about: Context): ...")

    assert project.build().registry.tools["one"].binding.load().context == "about"


def test_an_annotation_that_cannot_be_read_costs_only_itself(project: Project) -> None:
    project.tool(
        "one",
        parameter("a") + parameter("b", "integer"),
        "from __future__ import annotations\ndef one(a: Missing, b: str): ...",
    )

    found = project.inspect("one")

    assert [(d.code, d.severity) for d in found] == [
        ("type-drift", "warning"),
        ("type-drift", "error"),
    ]


def test_python_that_does_not_fit_denies_the_call_with_a_reason(project: Project) -> None:
    project.tool("one", parameter("date"), "def one(day): ...")
    binding = project.build().registry.tools["one"].binding

    with pytest.raises(ImplementationError, match="does not take the parameter `date`") as raised:
        binding.load()

    assert len(raised.value.diagnostics) == 2


def test_a_provided_type_handed_in_counts_as_well(project: Project) -> None:
    project.tool("one", python="from test_drift import Shelf\ndef one(*, shelf: Shelf): ...")

    assert project.inspect("one", given={"provides": Provides()}) == []


@pytest.mark.parametrize(
    ("python", "mode"),
    [
        ("def one(): ...", "sync"),
        ("async def one(): ...", "async"),
        ("async def one():\n    yield 1", "stream"),
        ("from toolmd import nonblocking\n@nonblocking\ndef one(): ...", "inline"),
        ("class C:\n    async def __call__(self): ...\none = C()", "async"),
        ("import functools\nasync def f(x): ...\none = functools.partial(f, 1)", "async"),
    ],
)
def test_the_kind_of_function_decides_how_it_runs(project: Project, python: str, mode: str) -> None:
    project.tool("one", python=python)

    assert project.build().registry.tools["one"].binding.load().mode == mode


def test_resources_that_are_provided_to_a_closed_project_are_closed_too(project: Project) -> None:
    """An import that ends late, as that of a check does, asks the plugins for them again."""
    project.tool("lend", python="from .store import Shelf\ndef lend(*, shelf: Shelf): ...\n")
    project.write("tools_md/store.py", "class Shelf: ...\n")
    project.write(
        "tools_md/plugin.py",
        "from pathlib import Path\nfrom toolmd.hooks import hookimpl\nfrom .store import Shelf\n"
        "@hookimpl\ndef toolmd_resources(registry, settings):\n"
        "    closed = Path(settings.root, 'closed')\n"
        "    registry.register_value(Shelf, Shelf(), on_registry_close=closed.touch)\n",
    )
    snapshot = project.build()
    snapshot.resources.retire()

    assert snapshot.registry.tools["lend"].binding.load().resources
    assert (project.root / "closed").exists()


@pytest.mark.parametrize(
    ("kind", "default", "python", "differs"),
    [
        ("integer", "5", "a=5", False),
        ("integer", "5", "a=6", True),
        ("integer", "5", "a=None", False),
        ("string", "x", "a='y'", True),
        ("boolean", "true", "a=1", True),
    ],
)
def test_another_default_in_python_is_reported_and_the_markdowns_counts(
    project: Project, kind: str, default: str, python: str, *, differs: bool
) -> None:
    text = parameter("a", kind, required=False, extra=f"- **Default**: {default}\n")
    project.tool("one", text, f"def one({python}): ...")

    found = project.inspect("one")

    assert [(one.code, one.severity) for one in found] == (
        [("parameter-drift", "warning")] if differs else []
    )
