"""One Of is exported as `oneOf`, or as `anyOf` with a loss where that allows more."""

import json
from typing import Any

import jsonschema
import pytest

from toolmd._dialect import system_prompt
from toolmd._export.targets import export
from toolmd._import import read_source
from toolmd._parse import parse_tool
from toolmd._types.tool import ToolSpec
from toolmd._validation import ArgumentsValidator

TEXT = """\
# Pay

Pay a bill.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: shop

## Parameters

### payment

- **Type**: object
- **Required**: true
- **Description**: How
- **One Of**:
  - **card**: A credit card
    - **Properties**:
      - **kind** (string, required)
      - **card_id** (string, required, sensitive)
      - **note** (string)
  - **iban**:
    - **Properties**:
      - **kind** (string, required)
      - **iban** (string, required)
- **Discriminator**: kind

## Returns

- **Type**: null
"""
OVERLAPPING = (
    TEXT.replace("- **Discriminator**: kind\n", "")
    .replace("**kind** (string, required)", "**kind** (string)")
    .replace("_id** (string, required", "_id** (string")
    .replace("**iban** (string, required)", "**iban** (string)")
)
GOOD = [{"kind": "card", "card_id": "1"}, {"kind": "iban", "iban": "D"}]
BAD = [{"kind": "card"}, {"kind": "iban", "iban": "D", "card_id": "1"}, {"kind": "x"}, {}, None]


def tool(text: str = TEXT) -> ToolSpec:
    spec, found = parse_tool(text, "pay.tool.md")
    assert spec is not None, found
    return spec


def exported(target: str, text: str = TEXT) -> tuple[dict[str, Any], list[str]]:
    """Return the schema of the payment, and what was lost."""
    made = export(target, [tool(text)])
    if target == "openapi":
        body = made.items["paths"]["/api/tools/pay/call"]["post"]["requestBody"]
        schema = body["content"]["application/json"]["schema"]["properties"]["arguments"]
    else:
        item = made.items[0].get("function", made.items[0])
        places = ("parameters", "input_schema", "parametersJsonSchema", "inputSchema")
        schema = next(item[place] for place in places if place in item)
    return schema["properties"]["payment"], [loss.what for loss in made.losses]


UNIONS = {"openai": "anyOf", "openai-responses": "anyOf", "gemini": "anyOf", "anthropic": "oneOf",
          "mcp": "oneOf", "openapi": "oneOf"}  # fmt: skip


@pytest.mark.parametrize("target", UNIONS)
def test_shapes_are_exported_exactly_where_a_field_tells_them_apart(target: str) -> None:
    schema, losses = exported(target)
    judge = jsonschema.Draft202012Validator(schema)

    assert UNIONS[target] in schema
    assert losses == []
    assert schema["description"] == "How"
    if "openai" not in target:  # there an optional field is required and nullable
        assert all(map(judge.is_valid, GOOD))
    assert not any(map(judge.is_valid, BAD))


@pytest.mark.parametrize("target", UNIONS)
def test_a_discriminator_is_written_for_readers_of_json_schema(target: str) -> None:
    schema, _ = exported(target)

    assert ("discriminator" in schema) is (target in {"mcp", "openapi"})


@pytest.mark.parametrize("target", UNIONS)
def test_shapes_that_may_overlap_are_a_loss_where_only_any_of_exists(target: str) -> None:
    schema, losses = exported(target, OVERLAPPING)

    assert UNIONS[target] in schema
    assert losses == (
        ["that no more than one shape of One Of may fit"] if UNIONS[target] == "anyOf" else []
    )


def test_strict_mode_is_kept_and_its_nulls_are_read_as_absent() -> None:
    (item,) = export("openai", [tool()]).items
    reply = {"payment": {"kind": "card", "card_id": "1", "note": None}}

    assert item["function"]["strict"] is True
    assert jsonschema.Draft202012Validator(item["function"]["parameters"]).is_valid(reply)
    for read in (tool(), tool(TEXT.replace("- **Discriminator**: kind\n", ""))):
        assert ArgumentsValidator(read.parameters).validate(reply) == {"payment": GOOD[0]}


@pytest.mark.parametrize("target", ["openai", "mcp"])
def test_an_exported_one_of_is_imported_back(target: str) -> None:
    text = json.dumps(export(target, [tool()]).items)
    (draft,) = read_source(target, text, "tools.json").drafts
    # Only the protocol's own `_meta` says what is sensitive.
    kept = TEXT if target == "mcp" else TEXT.replace(", sensitive", "")

    assert tool(draft.text).input_schema == tool(kept).input_schema


def test_a_policy_names_the_sensitive_fields_of_shapes() -> None:
    (item,) = export("mcp", [tool()]).items

    assert item["_meta"]["toolmd/policy"]["sensitive"] == ["payment.card_id"]


def test_a_null_next_to_shapes_is_exported() -> None:
    text = TEXT.replace("- **Type**: object\n", "- **Type**: object | null\n")
    for target in ("openai", "anthropic", "mcp"):
        schema, losses = exported(target, text)
        assert losses == []
        assert jsonschema.Draft202012Validator(schema).is_valid(None)


def test_prompts_name_each_shape_and_its_fields() -> None:
    prompt = system_prompt([tool()], "inline")
    lines = export("prompt", [tool()]).items.splitlines()

    assert "(object, exactly one of these shapes, required)" in prompt
    assert "  - shape `card`: A credit card.\n    - `kind` (string, required" in prompt
    assert "  - shape `card`: A credit card." in lines
    assert "    - `iban` (string, required)" in lines
