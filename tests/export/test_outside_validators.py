"""The exports before other people's programs, where these are installed."""

import copy
from pathlib import Path
from typing import Any

import pytest
from export_specs import BOOK_APPOINTMENT, GUARDED, SCHEDULE, specs
from hypothesis import HealthCheck, given, settings
from pydantic import TypeAdapter

from toolmd._export.targets import export
from toolmd._types.tool import ToolSpec

random = settings(suppress_health_check=[HealthCheck.too_slow])


@given(specs())
@random
def test_openais_own_helper_finds_nothing_to_change_in_strict_mode(spec: ToolSpec) -> None:
    helper = pytest.importorskip("openai.lib._pydantic")._ensure_strict_json_schema
    made = export("openai", [spec]).items[0]["function"]
    if made["strict"]:
        ours = made["parameters"]
        theirs = helper(copy.deepcopy(ours), path=(), root=ours)
        assert theirs == ours


@pytest.mark.parametrize("spec", [BOOK_APPOINTMENT, GUARDED], ids=lambda spec: spec.name)
def test_openais_types_accept_both_forms(spec: ToolSpec) -> None:
    chat = pytest.importorskip("openai.types.chat").ChatCompletionFunctionToolParam
    flat = pytest.importorskip("openai.types.responses").FunctionToolParam
    checked(chat, export("openai", [spec]).items[0])
    checked(flat, export("openai-responses", [spec]).items[0])


@given(specs())
@random
def test_anthropics_own_helper_reads_every_schema(spec: ToolSpec) -> None:
    transform = pytest.importorskip("anthropic").transform_schema
    (item,) = export("anthropic", [spec]).items
    if not untyped(item["input_schema"]):
        transform(item["input_schema"])


@pytest.mark.parametrize("spec", [BOOK_APPOINTMENT, GUARDED], ids=lambda spec: spec.name)
def test_anthropics_type_accepts_a_tool(spec: ToolSpec) -> None:
    checked(pytest.importorskip("anthropic.types").ToolParam, export("anthropic", [spec]).items[0])


@given(specs())
@random
def test_the_protocols_own_type_accepts_every_tool(spec: ToolSpec) -> None:
    types = pytest.importorskip("mcp.types")
    (item,) = export("mcp", [spec]).items
    read = types.Tool.model_validate(item)
    assert read.model_dump(by_alias=True, exclude_none=True) == item


def test_the_protocols_own_type_accepts_a_skill() -> None:
    types = pytest.importorskip("mcp.types")
    (item,) = export("mcp", [], [SCHEDULE]).items
    assert types.Tool.model_validate(item).output_schema == item["outputSchema"]


def test_the_openapi_document_is_valid() -> None:
    guard = pytest.importorskip(
        "openapi_spec_validator", reason="`pip install openapi-spec-validator` judges OpenAPI"
    )
    guard.validate(export("openapi", [BOOK_APPOINTMENT, GUARDED], [SCHEDULE]).items)


def test_a_skill_passes_the_reference_validator(tmp_path: Path) -> None:
    guard = pytest.importorskip("skills_ref", reason="`pip install skills-ref` judges Agent Skills")
    (file,) = export("agentskills", [], [SCHEDULE]).items
    target = tmp_path / file["path"]
    target.parent.mkdir()
    target.write_text(file["text"])
    assert guard.validate(target.parent) == []


def checked(form: Any, item: dict[str, Any]) -> None:
    read = TypeAdapter(form).validate_python(item)
    assert set(read) == set(item)


def untyped(schema: dict[str, Any]) -> bool:
    """Whether a part takes anything: Anthropic's helper wants a type, its API does not."""
    if not schema.keys() & {"type", "anyOf", "enum"}:
        return True
    below = [schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())]
    below += schema.get("properties", {}).values()
    return any(isinstance(part, dict) and untyped(part) for part in below)
