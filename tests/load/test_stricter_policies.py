"""A run keeps its policies, made stricter by those of today."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from bind_project import Project, tool
from tests.definitions import few

from toolmd._load.weakening import list_weakened, tighten
from toolmd._parse import parse_tool
from toolmd._types.call_spec import Limits, Rate, Safety
from toolmd._types.tool import ToolSpec


def test_the_hash_of_the_python_does_not_depend_on_the_projects_folder(
    project: Project, tmp_path: Path
) -> None:
    project.tool("lend_it", python="def lend_it(): return 'here'")
    here = python_hash(project)
    shutil.copytree(project.root, tmp_path / "elsewhere")
    there = Project.__new__(Project)
    there.root, there.reader = tmp_path / "elsewhere", project.reader
    assert python_hash(there) == here


def python_hash(project: Project) -> str:
    return project.build().around.code.of()


def spec_of(**policy: Any) -> ToolSpec:
    spec, _ = parse_tool(tool("lend_it"), "lend-it.tool.md")
    assert spec is not None
    return spec.model_copy(update=policy)


STRICT = [
    {"safety": Safety(min_confidence=0.9)},
    {"safety": Safety(requires_confirmation=True, sensitivity="critical")},
    {"safety": Safety(explicit_intent=True, intent_keywords=("lend",))},
    {"safety": Safety(confirm_when="true")},
    {"limits": Limits(rate=Rate(calls=1, per_s=1), quotas=few(2), allowed_domains=("a.example",))},
    {"limits": Limits(timeout_s=1, max_rows=3)},
    {"requires_auth": True, "requires_context": ("patient",)},
]


@pytest.mark.parametrize("then", STRICT)
@pytest.mark.parametrize("now", STRICT)
def test_a_policy_is_the_stricter_of_then_and_now(then: Any, now: Any) -> None:
    one, other = spec_of(**then), spec_of(**now)
    held = tighten(one, other)
    assert list_weakened(one, held) == ()
    assert list_weakened(other, held) == ()


def test_conditions_of_then_and_now_both_count() -> None:
    one = spec_of(safety=Safety(confirm_when="1 > 2"))
    other = spec_of(safety=Safety(confirm_when="2 > 1", crisis_when="3 > 1"))
    held = tighten(one, other).safety
    assert held.confirm_when == "(1 > 2) || (2 > 1)"
    assert held.crisis_when == "3 > 1"


def test_the_parameters_of_then_stay() -> None:
    one = spec_of()
    text = tool("lend_it", "### wanted\n\n- **Type**: string\n- **Required**: true\n")
    other, _ = parse_tool(text, "lend-it.tool.md")
    assert other is not None
    assert tighten(one, other) == one
