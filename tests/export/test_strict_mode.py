"""OpenAI's strict mode: only where the schema can be said in it."""

from typing import Any

import pytest
from export_specs import GUARDED, optional, required, tool

from toolmd._export.targets import export
from toolmd._types.schema import Parameter, Schema


def function(spec: Any) -> dict[str, Any]:
    return export("openai", [spec]).items[0]["function"]


def test_an_optional_parameter_is_nullable_and_required() -> None:
    made = function(tool(optional("day", "string", description="The day")))
    assert made["strict"] is True
    assert made["parameters"] == {
        "type": "object",
        "properties": {
            "day": {"description": "The day", "anyOf": [{"type": "string"}, {"type": "null"}]}
        },
        "required": ["day"],
        "additionalProperties": False,
    }


def test_an_optional_choice_that_has_null_has_it_once() -> None:
    made = function(tool(optional("arm", "string", "null", enum=("left", None))))
    assert made["parameters"]["properties"]["arm"] == {
        "anyOf": [{"type": "string", "enum": ["left"]}, {"type": "null"}]
    }


def test_keywords_outside_strict_mode_are_described_and_noted() -> None:
    exported = export("openai", [GUARDED])
    fields = exported.items[0]["function"]["parameters"]["properties"]
    assert fields["note"]["description"] == (
        "Must be the user's own words. At least 1 character. At most 500 characters."
    )
    assert fields["tags"]["description"] == "Each item only once."
    assert fields["arm"]["description"] == "Default: left."
    assert [str(loss) for loss in exported.losses] == [
        "log_blood_pressure.note: minLength 1",
        "log_blood_pressure.note: maxLength 500",
        "log_blood_pressure.tags: uniqueItems",
        'log_blood_pressure.arm: default "left"',
        'log_blood_pressure.page: examples ["https://example.org"]',
        'log_blood_pressure.page: format "uri"',
    ]


ANYTHING = Schema()
INEXPRESSIBLE = {
    "anything": (required("a"), "'a' may be anything"),
    "any items": (required("a", "array"), "'a[]' may be anything"),
    "open object": (required("a", "object"), "'a' is an open object"),
    "map": (required("a", "object", values=Schema(types=("string",))), "'a' is an open object"),
    "inside": (
        required("a", "array", items=Schema(types=("object",))),
        "'a[]' is an open object",
    ),
    "long values": (
        required("a", "string", enum=tuple(f"{number:060}" for number in range(251))),
        "'a' has more than 15000 characters in its values",
    ),
}


@pytest.mark.parametrize(("parameter", "why"), INEXPRESSIBLE.values(), ids=INEXPRESSIBLE)
def test_a_schema_outside_strict_mode_is_sent_complete_without_it(
    parameter: Parameter, why: str
) -> None:
    spec = tool(parameter, optional("b", "string", min_length=2))
    exported = export("openai", [spec])
    made = exported.items[0]["function"]
    assert made["strict"] is False
    assert made["parameters"]["properties"]["b"] == {"type": "string", "minLength": 2}
    assert [str(loss) for loss in exported.losses] == [f"x: strict mode: {why}"]


def test_ignored_unknown_parameters_rule_strict_mode_out() -> None:
    assert function(tool(unknown_parameters="ignore"))["strict"] is False


def test_strict_mode_ends_at_ten_levels() -> None:
    shape = Schema(types=("string",))
    for _ in range(11):
        inner = Parameter(name="a", shape=shape, required=True)
        shape = Schema(types=("object",), properties=(inner,))
    made = function(tool(Parameter(name="a", shape=shape, required=True)))
    assert made["strict"] is False


def test_strict_mode_counts_the_values_of_all_enums_together() -> None:
    def choices(count: int) -> Any:
        values = tuple(f"v{number}" for number in range(250))
        return tool(*(required(f"p{number}", "string", enum=values) for number in range(count)))

    assert function(choices(4))["strict"] is True
    exported = export("openai", [choices(5)])
    assert exported.items[0]["function"]["strict"] is False
    assert [str(loss) for loss in exported.losses] == [
        "x: strict mode: more than 1000 values in all enums together"
    ]


@pytest.mark.parametrize("target", ["openai", "openai-responses"])
def test_a_description_that_some_models_reject_is_reported_and_not_cut(target: str) -> None:
    said = "a" * 1025
    exported = export(target, [tool(description=said), tool(name="y", description=said[1:])])
    assert said in str(exported.items[0])
    assert [str(loss) for loss in exported.losses] == [
        "x: nothing yet, but some models reject a description of 1025 characters: 1024 are safe"
    ]


def test_a_union_is_exported_as_any_of_with_each_types_own_keywords() -> None:
    union = required("a", "string", "array", items=Schema(types=("integer",)), description="Ids")
    assert function(tool(union))["parameters"]["properties"]["a"] == {
        "description": "Ids",
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}],
    }
