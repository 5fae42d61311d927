"""A call spec read from a definition's JSON equals the one made from its spec."""

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from whole_specs import TOOL

from toolmd import ToolSpec, Workspace, parse_tool
from toolmd._load.cache import decode, decode_call_spec, encode, hash_of
from toolmd._types.call_spec import ToolCallSpec

ROOT = Path(__file__).parents[2]
FILES = sorted([*ROOT.glob("tools_md/**/*.tool.md"), *ROOT.glob("plugins/*/src/**/*.tool.md")])
NAMES = [field.name for field in fields(ToolCallSpec)]
CALL = """
import asyncio, sys
from toolmd import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    assert asyncio.run(workspace.call("give", '{"count": 3}')).data == 3
print(*{name.partition(".")[0] for name in sys.modules} & {"pydantic", "httpx"})
"""
GIVE = """\
# Give

Give back a number.

## Metadata

- **Name**: give
- **Version**: 1.0.0
- **Category**: numbers

## Parameters

### count

- **Type**: integer
- **Required**: true
- **Maximum**: 9

## Returns

- **Type**: integer
"""


def hash_without_a_spec(spec: ToolSpec) -> str:
    encoded = encode(spec)
    return hash_of(decode_call_spec(encoded), encoded)


def said(call_spec: ToolCallSpec) -> dict[str, object]:
    return {name: getattr(call_spec, name) for name in NAMES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_call_spec_of_a_file_equals_that_of_its_spec(file: Path) -> None:
    spec, _ = parse_tool(file.read_text("utf-8"), file.name)
    assert spec is not None

    assert said(decode_call_spec(encode(spec))) == said(spec)


def test_the_call_spec_of_a_complete_tool_equals_that_of_its_spec() -> None:
    assert said(decode_call_spec(encode(TOOL))) == said(TOOL) == said(decode("tool", encode(TOOL)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_hash_of_a_file_equals_that_of_its_spec(file: Path) -> None:
    spec, _ = parse_tool(file.read_text("utf-8"), file.name)
    assert spec is not None

    assert hash_without_a_spec(spec) == spec.hash == decode("tool", encode(spec)).hash


def test_the_hash_of_a_complete_tool_equals_that_of_its_spec() -> None:
    assert hash_without_a_spec(TOOL) == TOOL.hash == decode("tool", encode(TOOL)).hash


def test_every_definition_of_the_project_has_the_hash_of_its_spec_before_and_after() -> None:
    with Workspace.open(ROOT) as workspace:
        registry = workspace.registry
        bound = [*registry.tools.values(), *registry.skills.values()]
        assert len(bound) > 10

        asked_first = {one.name: one.hash for one in bound}

        assert asked_first == {one.name: one.spec.hash for one in bound}
        assert asked_first == {one.name: one.hash for one in bound}


def test_a_spec_is_a_call_spec_and_a_pydantic_model() -> None:
    assert isinstance(TOOL, ToolCallSpec)
    assert set(NAMES) < set(ToolSpec.model_fields)
    assert ToolSpec.model_validate(TOOL.model_dump()) == TOOL


@pytest.mark.parametrize(
    "damage",
    [
        {"returns": None},
        {"safety": {"sensitive": True}},
        {"limits": {"rate": {"calls": 3}}},
        {"parameters": [{"shape": {}}]},
        {"parameters": [{"name": "a", "shape": {"type": "string"}}]},
    ],
)
def test_a_value_that_is_not_a_tool_has_no_call_spec(damage: dict[str, object]) -> None:
    encoded = json.dumps(json.loads(encode(TOOL)) | damage).encode()

    with pytest.raises((ValueError, TypeError, KeyError, AttributeError)):
        decode_call_spec(encoded)


@pytest.mark.process
@pytest.mark.parametrize("audit", ["false", "true"])
def test_a_call_after_a_start_with_a_cache_imports_no_pydantic(tmp_path: Path, audit: str) -> None:
    tools = tmp_path / "tools_md"
    tools.mkdir()
    (tmp_path / "toolmd.toml").write_text(f"plugins = []\nskills = []\naudit = {audit}\n")
    (tools / "give.tool.md").write_text(GIVE)
    (tools / "give.py").write_text("async def give(count: int) -> int:\n    return count\n")

    command = [sys.executable, "-c", CALL, str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    warm = subprocess.run(command, check=True, capture_output=True, text=True)

    assert warm.stdout.split() == []
    assert (tmp_path / ".toolmd" / "audit").exists() is (audit == "true")
