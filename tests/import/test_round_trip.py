"""An import reads an export back with the same arguments, apart from documented losses."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._export.targets import export
from toolmd._import import read_source
from toolmd._parse import parse_tool
from toolmd._types.approval import Approval
from toolmd._types.call_spec import Limits, Rule, Safety
from toolmd._types.diagnostic import Source
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import ToolSpec

WORDS = st.sampled_from(
    ["", "The city", "At 3 o'clock, or so", "A list: a, b", "Ends here.", "See e.g. page 5"]
)
NAMES = st.sampled_from(
    ["city", "child_names", "patientId", "child-name", "x", "type", "limit", "format"]
)


@st.composite
def leaves(draw: st.DrawFn) -> Schema:
    kind = draw(st.sampled_from(["string", "number", "integer", "boolean", "enum", "any"]))
    said: dict[str, Any] = {"description": draw(WORDS)}
    if kind == "enum":
        values = draw(
            st.lists(st.sampled_from(["a", "B c", "d|e", "1", "x,y"]), min_size=1, unique=True)
        )
        said |= {"types": ("string",), "enum": tuple(values)}
        if draw(st.booleans()):
            said |= {"has_default": True, "default": values[0]}
    elif kind == "string":
        said["types"] = ("string",)
        extra = draw(st.sampled_from(["", "length", "format", "pattern", "default"]))
        said |= {
            "length": {"min_length": 1, "max_length": draw(st.integers(1, 300))},
            "format": {"format": draw(st.sampled_from(["date", "uri", "email", "x-own"]))},
            "pattern": {"pattern": draw(st.sampled_from(["[A-Z]{3}", "a|b", r"\d+\.\d", "x?"]))},
            "default": {
                "has_default": True,
                "default": draw(st.sampled_from(["a", "two words", ""])),
            },
        }.get(extra, {})
    elif kind in {"number", "integer"}:
        said["types"] = (kind,)
        if draw(st.booleans()):
            said |= {"minimum": draw(st.integers(-5, 5)), "maximum": draw(st.integers(6, 99))}
        if draw(st.booleans()):
            said |= {"has_default": True, "default": 6}
    elif kind == "boolean":
        said["types"] = ("boolean",)
    return Schema(**said)


def branches(inner: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    arrays = st.builds(
        lambda items, unique, most: Schema(
            types=("array",), items=items, unique=unique, max_items=most
        ),
        inner,
        st.booleans(),
        st.none() | st.integers(1, 50),
    )
    objects = st.builds(
        lambda fields: Schema(types=("object",), properties=tuple(fields)),
        parameters(inner).filter(bool),
    )
    # The file says of an open object's values no more than their type.
    bare = st.sampled_from(["string", "integer", "boolean"]).map(lambda t: Schema(types=(t,)))
    maps = st.builds(lambda values: Schema(types=("object",), values=values), bare)
    return arrays | objects | maps


def parameters(shapes: st.SearchStrategy[Schema]) -> st.SearchStrategy[list[Parameter]]:
    one = st.builds(Parameter, name=NAMES, shape=shapes, required=st.booleans())
    return st.lists(one, max_size=4, unique_by=lambda p: p.name.replace("-", "_"))


SHAPES = st.recursive(leaves(), branches, max_leaves=6)


def tool(*given_: Parameter, **more: Any) -> ToolSpec:
    said = {
        "name": "sell_flowers",
        "title": "Sell Flowers",
        "description": "Sell some flowers.",
        "version": "1.0.0",
        "category": "general",
        "returns": Schema(types=("object",), description="The sale"),
        "source": Source("", 1),
    }
    return ToolSpec(**(said | more), parameters=given_)


def back(spec: ToolSpec, target: str, kind: str) -> ToolSpec:
    items = export(target, [spec]).items
    read = read_source(kind, json.dumps(items), "tools.json")
    assert read.refused == ()
    (draft,) = read.drafts
    made, found = parse_tool(draft.text, "sell-flowers.tool.md")
    assert made is not None, found
    return made


def comparable(schema: Any) -> Any:
    """Return a schema without the full stop that an export may add to a description."""
    if isinstance(schema, list):
        return [comparable(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: comparable(field) for name, field in value.items()}
        if key == "properties"
        else comparable(value)
        for key, value in schema.items()
    }
    if isinstance(made.get("description"), str):
        made["description"] = made["description"].rstrip(".")
    return made


@given(given_=parameters(SHAPES))
def test_the_arguments_of_an_mcp_tool_come_back_as_they_went(given_: list[Parameter]) -> None:
    spec = tool(*given_)

    assert comparable(back(spec, "mcp", "mcp").input_schema) == comparable(spec.input_schema)


@pytest.mark.parametrize("flag", ["sensitive", "verbatim"])
def test_marks_of_values_in_the_protocol_come_back(flag: str) -> None:
    marked = Schema(types=("string",), **{flag: True})
    inner = Schema(types=("object",), properties=(Parameter(name="a", shape=marked),))
    spec = tool(Parameter(name="rows", shape=Schema(types=("array",), items=inner)))

    (rows,) = back(spec, "mcp", "mcp").parameters
    items = rows.shape.items
    assert items is not None
    assert items.properties is not None
    assert getattr(items.properties[0].shape, flag) is True


def test_the_policy_in_the_protocol_comes_back() -> None:
    amount = Parameter(name="amount", shape=Schema(types=("integer",)), required=True)
    spec = tool(
        amount,
        read_only=True,
        requires_auth=True,
        version="2.1",
        rules=(Rule(expression="amount > 0", message="Give more."),),
        safety=Safety(min_confidence=0.8, requires_confirmation=True, sensitivity="high"),
        limits=Limits(timeout_s=5.0, retries=2, allowed_domains=("example.org",)),
    )
    made = back(spec, "mcp", "mcp")

    for field in ("safety", "limits", "rules", "read_only", "requires_auth", "version", "returns"):
        assert getattr(made, field) == getattr(spec, field), field
    assert [p.name for p in made.parameters] == ["amount"]


def test_an_approval_that_no_draft_holds_is_a_finding() -> None:
    items = export("mcp", [tool(approvals=(Approval(by=("chef",)),))]).items
    (draft,) = read_source("mcp", json.dumps(items), "tools.json").drafts
    made, found = parse_tool(draft.text, "sell-flowers.tool.md")
    assert made is None
    assert any("chef" in one.message + one.help for one in found)


def test_the_confidence_of_an_export_is_not_an_argument() -> None:
    spec = tool(safety=Safety(min_confidence=0.8))
    read = read_source("openai", json.dumps(export("openai", [spec]).items), "-")
    made = back(spec, "openai", "openai")

    assert made.parameters == ()
    assert any("Min Confidence" in note.text for note in read.notes)


def test_an_optional_value_that_may_be_null_comes_back_without_its_null() -> None:
    """Strict mode has one word for both; the page says so."""
    shape = Schema(types=("string", "null"))
    made = back(tool(Parameter(name="note", shape=shape)), "openai", "openai")

    assert made.parameters == (Parameter(name="note", shape=Schema(types=("string",))),)
