"""The Python of a snapshot is pinned and loaded again; packages must have their version."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from bind_project import Project, tool
from test_plugins import DEFINITIONS, Packages, build_with, packages

from toolmd._load.build import Snapshot
from toolmd._load.edits.weakening import tightened, weakened
from toolmd._load.pin import Pin, Pinned, pin_of, unpin
from toolmd._parse import parse_tool
from toolmd._types.call_spec import Limits, Rate, Safety
from toolmd._types.tool import ToolSpec
from toolmd.config import load_settings
from toolmd.errors import ImplementationError

__all__ = ["packages"]
GIVES = (
    "@hookimpl\ndef toolmd_implementation(spec):\n"
    "    return (lambda: 'given') if spec.name == 'lend_it' else None\n"
)


def pinned(snapshot: Snapshot, root: Path) -> Pinned:
    pin: Pin = pin_of(snapshot, root)
    tools = snapshot.registry.tools
    given = tuple(name for name, bound in tools.items() if bound.binding.kind == "entry_point")
    specs = tuple(bound.spec for bound in tools.values())
    return Pinned(specs, given, pin.manifest, pin.files)


def again(kept: Pinned, project: Project, *plugins: str) -> Any:
    """Make a snapshot of what was pinned, and give what `lend_it` gives."""
    settings = load_settings(project.root, overrides={"plugins": list(plugins)}, environ={})
    load = unpin(kept, settings).registry.tools["lend_it"].binding.load
    assert load is not None
    return load().function()


@pytest.fixture(params=["files", "a hook"])
def kept(request: pytest.FixtureRequest, project: Project, packages: Packages) -> Pinned:
    if request.param == "files":
        files = {
            "tools/lend-it.tool.md": tool("lend_it"),
            "tools/lend_it.py": "def lend_it(): return 'given'",
        }
        packages.install("brings-tools", DEFINITIONS, files)
    else:
        packages.install("brings-tools", GIVES)
        project.tool("lend_it")
    return pinned(build_with(project, ["brings-tools"]), project.root)


def test_a_tool_of_a_package_is_loaded_again(kept: Pinned, project: Project) -> None:
    assert again(kept, project, "brings-tools") == "given"


def test_a_package_of_another_version_is_not_the_pinned_one(
    kept: Pinned, project: Project, packages: Packages
) -> None:
    metadata = packages.root / "brings_tools-1.2.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("Version: 1.2", "Version: 1.3"))
    with pytest.raises(ImplementationError, match=r"brings-tools 1.3, which was 1.2 then"):
        again(kept, project, "brings-tools")


def test_a_package_that_is_gone_is_named(
    kept: Pinned, project: Project, packages: Packages
) -> None:
    shutil.rmtree(packages.root / "brings_tools-1.2.dist-info")
    with pytest.raises(ImplementationError, match="lend_it is not installed any more"):
        again(kept, project)


def test_a_pin_does_not_depend_on_the_projects_folder(project: Project, tmp_path: Path) -> None:
    project.tool("lend_it", python="def lend_it(): return 'here'")
    here = pin_of(project.build(), project.root)
    shutil.copytree(project.root, tmp_path / "elsewhere")
    there = Project.__new__(Project)
    there.root, there.reader = tmp_path / "elsewhere", project.reader
    assert pin_of(there.build(), there.root) == here


def spec_of(**policy: Any) -> ToolSpec:
    spec, _ = parse_tool(tool("lend_it"), "lend-it.tool.md")
    assert spec is not None
    return spec.model_copy(update=policy)


STRICT = [
    {"safety": Safety(min_confidence=0.9)},
    {"safety": Safety(requires_confirmation=True, sensitivity="critical")},
    {"safety": Safety(explicit_intent=True, intent_keywords=("lend",))},
    {"safety": Safety(confirm_when="true")},
    {"limits": Limits(rate=Rate(calls=1, per_s=1), max_calls=2, allowed_domains=("a.example",))},
    {"limits": Limits(timeout_s=1, max_rows=3)},
    {"requires_auth": True, "requires_context": ("patient",)},
]


@pytest.mark.parametrize("then", STRICT)
@pytest.mark.parametrize("now", STRICT)
def test_a_policy_is_the_stricter_of_then_and_now(then: Any, now: Any) -> None:
    one, other = spec_of(**then), spec_of(**now)
    held = tightened(one, other)
    assert weakened(one, held) == ()
    assert weakened(other, held) == ()


def test_conditions_of_then_and_now_both_count() -> None:
    one = spec_of(safety=Safety(confirm_when="1 > 2"))
    other = spec_of(safety=Safety(confirm_when="2 > 1", escalate_when="3 > 1"))
    held = tightened(one, other).safety
    assert held.confirm_when == "(1 > 2) || (2 > 1)"
    assert held.escalate_when == "3 > 1"


def test_the_pinned_parameters_of_a_tool_stay() -> None:
    one = spec_of()
    text = tool("lend_it", "### wanted\n\n- **Type**: string\n- **Required**: true\n")
    other, _ = parse_tool(text, "lend-it.tool.md")
    assert other is not None
    assert tightened(one, other) == one
