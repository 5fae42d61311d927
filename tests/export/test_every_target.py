"""Properties of every export, on random specs."""

import json
from dataclasses import replace
from typing import Any

import pytest
from export_specs import (
    BOOK_APPOINTMENT,
    GUARDED,
    SCHEDULE,
    arguments,
    optional,
    required,
    specs,
    tool,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolmd._export.exported import Exported
from toolmd._export.targets import TARGETS, export
from toolmd._types.approval import Approval
from toolmd._types.call_spec import Given, Rule, ToolCallSpec
from toolmd._types.field import rows_of
from toolmd._types.schema import Schema
from toolmd._types.tool import ToolSpec
from toolmd.errors import NotFoundError

MODELS = ("openai", "openai-responses", "anthropic", "gemini", "mcp")


def schema_of(target: str, item: dict[str, Any]) -> dict[str, Any]:
    match target:
        case "openai":
            return item["function"]["parameters"]
        case "openai-responses":
            return item["parameters"]
        case "anthropic":
            return item["input_schema"]
        case "gemini":
            return item["parametersJsonSchema"]
        case _:
            return item["inputSchema"]


def name_of(target: str, item: dict[str, Any]) -> str:
    return item["function"]["name"] if target == "openai" else item["name"]


def keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(k for v in value.values() for k in keys(v))]
    return [k for v in value for k in keys(v)] if isinstance(value, list) else []


def nulled(schema: dict[str, Any], value: Any) -> Any:
    """Add `null` for every missing property that strict mode requires."""
    for branch in schema.get("anyOf", ()):
        said = nulled(branch, value)
        if Draft202012Validator(branch).is_valid(said):
            return said
    if isinstance(value, list) and "items" in schema:
        return [nulled(schema["items"], item) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        fields = schema["properties"]
        given = {k: nulled(fields[k], v) if k in fields else v for k, v in value.items()}
        return given | {k: None for k in schema.get("required", ()) if k not in value}
    return value


@pytest.mark.parametrize("target", MODELS)
@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_the_export_accepts_what_the_file_accepts(target: str, data: st.DataObject) -> None:
    spec = data.draw(specs())
    given_arguments = data.draw(arguments(spec.parameters))
    Draft202012Validator(spec.input_schema).validate(given_arguments)
    (item,) = export(target, [spec]).items
    schema = schema_of(target, item)
    Draft202012Validator.check_schema(schema)
    sent = given_arguments
    if spec.safety.min_confidence is not None:
        sent = {**sent, "_confidence": 0.8}
    if "strict" in json.dumps(item):
        sent = nulled(schema, sent)
    Draft202012Validator(schema).validate(sent)


@pytest.mark.parametrize("target", MODELS)
@given(specs())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_word_of_our_own_reaches_a_model(target: str, spec: ToolSpec) -> None:
    marked = spec.model_copy(
        update={
            "parameters": tuple(
                replace(p, shape=replace(p.shape, unit="mmHg")) for p in spec.parameters
            )
        }
    )
    (item,) = export(target, [marked]).items
    assert not [key for key in keys(item) if key.startswith("x-")]
    if marked.parameters:
        assert "mmHg" in json.dumps(item)


@pytest.mark.parametrize("target", MODELS)
def test_a_parameter_may_be_named_like_one_of_our_words(target: str) -> None:
    (item,) = export(target, [tool(required("x-unit", "string"), name="odd")]).items
    assert list(schema_of(target, item)["properties"]) == ["x-unit"]


@pytest.mark.parametrize("target", MODELS)
def test_the_seeds_example_loses_nothing(target: str) -> None:
    exported = export(target, [BOOK_APPOINTMENT])
    assert exported.losses == ()
    (item,) = exported.items
    schema = schema_of(target, item)
    assert schema["required"] == ["child_names", "appointment_time", "appointment_type"]
    assert schema["properties"]["appointment_type"] == {
        "type": "string",
        "description": "Type of appointment",
        "enum": ["exam", "cleaning", "exam_and_cleaning", "emergency"],
    }


@pytest.mark.parametrize("target", MODELS)
def test_a_tool_without_parameters_is_a_closed_empty_object(target: str) -> None:
    (item,) = export(target, [tool()]).items
    schema = schema_of(target, item)
    assert (schema["type"], schema["properties"], schema["additionalProperties"]) == (
        "object",
        {},
        False,
    )


@pytest.mark.parametrize("target", MODELS)
def test_when_to_use_and_the_rules_are_part_of_the_description(target: str) -> None:
    (item,) = export(target, [GUARDED]).items
    said = item.get("function", item)["description"]
    assert said == (
        "Log a blood pressure reading.\n\nWhen the user states both numbers.\n\n"
        "Rules:\n- Diastolic must be below systolic."
    )


@pytest.mark.parametrize("target", MODELS)
def test_a_threshold_asks_for_a_required_confidence(target: str) -> None:
    schema = schema_of(target, export(target, [GUARDED]).items[0])
    asked = schema["properties"]["_confidence"]
    assert (asked["type"], asked["minimum"], asked["maximum"]) == ("number", 0, 1)
    assert "_confidence" in schema["required"]
    assert "_confidence" not in json.dumps(export(target, [BOOK_APPOINTMENT]).items)


@pytest.mark.parametrize("target", MODELS)
def test_a_configured_threshold_asks_for_a_confidence_too(target: str) -> None:
    exported = export(target, [BOOK_APPOINTMENT], asks_confidence=lambda _: True)
    assert "_confidence" in schema_of(target, exported.items[0])["required"]


@pytest.mark.parametrize("target", MODELS)
def test_skills_are_functions_behind_the_tools(target: str) -> None:
    items = export(target, [BOOK_APPOINTMENT], [SCHEDULE]).items
    assert [name_of(target, item) for item in items] == ["book_appointment", "schedule_appointment"]


@pytest.mark.parametrize("target", MODELS)
def test_of_two_with_one_name_the_first_stays_and_the_other_is_noted(target: str) -> None:
    exported = export(target, [tool(name="schedule_appointment")], [SCHEDULE])
    assert len(exported.items) == 1
    assert [str(loss) for loss in exported.losses] == [
        "schedule_appointment: the skill is left out: its name is taken"
    ]


@pytest.mark.parametrize("target", MODELS)
def test_a_name_that_the_target_rejects_is_adapted_and_noted(target: str) -> None:
    exported = export(target, [tool(name="ünlike"), tool(name="önlike"), tool(name="x" * 200)])
    names = [name_of(target, item) for item in exported.items]
    assert len(set(names)) == 3
    assert all(name.isascii() and len(name) <= 128 for name in names)
    assert [loss.what for loss in exported.losses] == [f"the name, written {n}" for n in names]


def test_a_pattern_applies_to_the_whole_text() -> None:
    spec = tool(
        required("loose", "string", pattern="[a-z]+"), required("tight", "string", pattern="^a$")
    )
    fields = export("mcp", [spec]).items[0]["inputSchema"]["properties"]
    assert fields["loose"]["pattern"] == "^(?:[a-z]+)$"
    assert fields["tight"]["pattern"] == "^a$"


def test_a_pattern_outside_json_schema_is_described_and_noted() -> None:
    exported = export("mcp", [tool(required("code", "string", pattern=r"(?i)ab"))])
    assert exported.items[0]["inputSchema"]["properties"]["code"] == {
        "type": "string",
        "description": "Must match ^(?:(?i)ab)$.",
    }
    assert [str(loss) for loss in exported.losses] == ["x.code: pattern ^(?:(?i)ab)$"]


def test_anthropic_leaves_out_a_tool_whose_argument_it_cannot_name() -> None:
    exported = export("anthropic", [tool(optional("größe", "number"))])
    assert exported.items == []
    assert "left out" in exported.losses[0].what


def test_gemini_describes_an_enum_of_booleans_in_words() -> None:
    exported = export("gemini", [tool(required("on", "boolean", enum=(True,)))])
    assert exported.items[0]["parametersJsonSchema"]["properties"]["on"] == {
        "type": "boolean",
        "description": "One of true.",
    }
    assert [str(loss) for loss in exported.losses] == ["x.on: enum [true]"]


def test_mcp_states_all_four_hints_and_the_policy() -> None:
    (item,) = export("mcp", [GUARDED]).items
    assert item["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    assert item["_meta"]["toolmd/policy"] == {
        "idempotent": "keyed",
        "safety": {"min_confidence": 0.7, "sensitivity": "medium"},
        "limits": {"timeout_s": 10.0},
        "rules": [
            {"expression": "diastolic < systolic", "message": "Diastolic must be below systolic."}
        ],
        "sensitive": ["note"],
        "verbatim": ["note"],
    }


def test_a_policy_has_every_field_that_restricts() -> None:
    whole = tool(
        requires_auth=True, requires_context=("shop",), allowed_roles=("chef",),
        approvals=(Approval(by=("chef",), expires_s=60.0),), given=(Given("order", "get_order"),),
        rules=(Rule("true", "Never."),),
    )  # fmt: skip
    (item,) = export("mcp", [whole]).items
    policy = item["_meta"]["toolmd/policy"]
    assert policy["approvals"] == [{"when": "always", "by": ["chef"], "expires_s": 60.0}]
    fields = {row.attribute for row in rows_of(ToolCallSpec) if row.restricts}
    elsewhere = {"unknown_parameters", "model_invocation"}
    """In the schema; and what no model may call is not exported."""
    assert fields - elsewhere <= policy.keys()
    assert {"Approvals", "Rules", "Allowed Roles"} <= {*export("openai", [whole]).restrictions}


def test_mcp_wraps_a_result_that_is_not_an_object_and_notes_it() -> None:
    (item,) = export("mcp", [tool(returns=Schema(types=("array",)))]).items
    assert item["outputSchema"]["properties"] == {"result": {"type": "array", "items": {}}}
    assert item["_meta"]["toolmd/wrapped"] is True


def test_a_read_only_tool_without_domains_lives_in_a_closed_world() -> None:
    (item,) = export("mcp", [tool(read_only=True)]).items
    assert item["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


def test_too_many_functions_for_a_request_are_exported_with_a_note() -> None:
    tools = [tool(name=f"t{number}") for number in range(129)]
    assert export("openai", tools[1:]).losses == ()
    exported = export("openai", tools)
    assert len(exported.items) == 129
    assert [str(loss) for loss in exported.losses] == [
        "all: nothing yet, but a request takes 128 functions, not 129: name those that it needs"
    ]


def test_an_unknown_target_names_the_known_ones() -> None:
    with pytest.raises(NotFoundError, match="no export target 'zz'; there are openai, "):
        export("zz", [])


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_may_be_written_with_an_underscore_and_be_empty(target: str) -> None:
    exported = export(target.replace("-", "_"), [])
    assert isinstance(exported, Exported)
    assert exported.target == target
