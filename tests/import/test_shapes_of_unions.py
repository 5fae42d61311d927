"""Unions of object shapes are imported as One Of, and accept what they accepted."""

import json
import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolmd._export.targets import export
from toolmd._import import read_source
from toolmd._parse import parse_tool
from toolmd._types.schema import Schema
from toolmd._validation import fits
from toolmd.importing import Imported


def obj(required: str = "", *, closed: bool = True, **properties: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = required.split()
    return {**made, "additionalProperties": False} if closed else made


TEXT = {"type": "string"}
CARD = obj("kind card_id", kind={"const": "card"}, card_id=TEXT)
IBAN = obj("kind iban", kind={"const": "iban"}, iban=TEXT)


def imported(field: Any, **more: Any) -> Imported:
    schema = {"type": "object", "properties": {"x": field}, "additionalProperties": False, **more}
    tool = {"name": "pay", "description": "Pay.", "inputSchema": schema}
    return read_source("mcp", json.dumps({"tools": [tool]}), "tools.json")


def shape_of(read: Imported) -> Schema:
    (draft,) = read.drafts
    spec, found = parse_tool(draft.text, "pay.tool.md")
    assert spec is not None, found
    return spec.parameters[0].shape


def names(shape: Schema) -> list[str]:
    return [each.name for each in shape.one_of or ()]


def notes(read: Imported) -> list[str]:
    return [note.text for note in read.notes if note.path]


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_a_union_told_apart_by_a_const_becomes_one_of_with_a_discriminator(keyword: str) -> None:
    read = imported({keyword: [CARD, IBAN], "description": "How"})
    shape = shape_of(read)

    assert names(shape) == ["card", "iban"]
    assert (shape.discriminator, shape.description) == ("kind", "How")
    assert notes(read) == []
    assert not fits(shape)({"kind": "card"})
    assert not fits(shape)({"kind": "card", "iban": "x"})


PYDANTIC = {
    "discriminator": {"mapping": {"card": "#/$defs/Card", "iban": "#/$defs/Iban"},
                      "propertyName": "kind"},
    "oneOf": [{"$ref": "#/$defs/Card"}, {"$ref": "#/$defs/Iban"}],
    "title": "X",
}  # fmt: skip
DEFS = {
    "Card": {
        "properties": {
            "kind": {"const": "card", "title": "Kind", "type": "string"},
            "card_id": {"title": "Card Id", "type": "string"},
        },
        "required": ["kind", "card_id"],
        "title": "Card",
        "description": "A card",
        "type": "object",
    },
    "Iban": {
        "allOf": [
            {"properties": {"kind": {"enum": ["iban"]}}, "required": ["kind"]},
            {"type": "object", "properties": {"iban": TEXT}, "required": ["iban"]},
        ],
    },
}


@pytest.mark.parametrize(
    "field",
    [
        PYDANTIC,
        {"anyOf": [PYDANTIC, {"type": "null"}], "default": None},
        {"anyOf": [*PYDANTIC["oneOf"], {"type": "null"}]},
    ],
)
def test_a_discriminated_union_of_pydantic_is_kept(field: Any) -> None:
    read = imported(field, **{"$defs": DEFS})
    shape = shape_of(read)

    assert (names(shape), shape.discriminator) == (["card", "iban"], "kind")
    assert notes(read) == []
    assert fits(shape)({"kind": "iban", "iban": "D"})
    assert fits(shape)(None) is ("anyOf" in field)


def test_shapes_without_a_tag_are_named_after_their_titles() -> None:
    city = {**obj("city", city=TEXT), "title": "By City"}
    place = obj("at", at=TEXT)
    defs = {"Place": place}
    read = imported(
        {"anyOf": [city, {"$ref": "#/$defs/Place"}, obj("z", z=TEXT)]}, **{"$defs": defs}
    )
    shape = shape_of(read)

    assert names(shape) == ["by_city", "Place", "shape_3"]
    assert shape.discriminator is None
    assert notes(read) == []


def test_an_optional_tag_is_no_discriminator_and_its_default_is_filled() -> None:
    card = obj("card_id", kind={"const": "card", "default": "card"}, card_id=TEXT)
    shape = shape_of(imported({"oneOf": [card, IBAN], "discriminator": {"propertyName": "kind"}}))

    assert shape.discriminator is None
    assert fits(shape)({"card_id": "1"})


def test_fields_next_to_the_shapes_are_fields_of_each() -> None:
    field = {
        **obj("id", id=TEXT, a=TEXT, b=TEXT),
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    shape = shape_of(imported(field))

    assert fits(shape)({"id": "1", "a": "x"})
    assert not fits(shape)({"id": "1"})
    assert not fits(shape)({"id": "1", "a": "x", "b": "y"})


def test_shapes_of_items_and_of_nested_unions_are_kept() -> None:
    cash = obj("kind", kind={"const": "cash"})
    nested = {"oneOf": [{"oneOf": [CARD, IBAN]}, cash]}
    shape = shape_of(imported({"type": "array", "items": nested}))

    assert shape.items is not None
    assert (names(shape.items), shape.items.discriminator) == (["card", "iban", "cash"], "kind")


def test_texts_next_to_shapes_are_kept() -> None:
    shape = shape_of(imported({"anyOf": [{"type": "string", "maxLength": 3}, CARD, IBAN]}))
    check = fits(shape)

    assert check("abc")
    assert not check("abcd")
    assert check({"kind": "iban", "iban": "x"})
    assert not check({"kind": "iban"})


TOLD = [
    ({"anyOf": [obj(a=TEXT), obj(b=TEXT)]}, "fits several shapes is rejected", {}),
    ({"anyOf": [CARD, IBAN, {"type": "object"}]}, "read as any object", {"kind": "?"}),
    ({"oneOf": [CARD, IBAN, {"type": "object", "additionalProperties": TEXT}]},
     "read as any object", {"a": "b"}),
    ({"anyOf": [obj("n", n={"const": n}) for n in range(129)]}, "more than 128 shapes", {"n": 200}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "note", "value"), TOLD, ids=["overlapping", "open", "a map", "many"]
)
def test_a_union_that_one_of_can_not_hold_is_noted(field: Any, note: str, value: Any) -> None:
    read = imported(field)

    assert any(note in text for text in notes(read)), notes(read)
    assert fits(shape_of(read))(value) is ("any object" in " ".join(notes(read)))


def test_one_shape_and_null_is_no_one_of() -> None:
    shape = shape_of(imported({"anyOf": [CARD, {"type": "null"}]}))

    assert shape.one_of is None
    assert shape.types == ("object", "null")


FIELDS = st.dictionaries(
    st.sampled_from(["a", "b", "kind"]),
    st.sampled_from(
        [TEXT, {"type": "integer"}, {"const": "x"}, {"enum": ["x", "y"]}, {"const": 1},
         {"type": ["string", "null"]}, {"type": "boolean"}]
    ),
    max_size=3,
)  # fmt: skip


@st.composite
def objects(draw: st.DrawFn, depth: int = 1) -> dict[str, Any]:
    fields = draw(FIELDS)
    if depth and draw(st.booleans()):
        fields["c"] = draw(unions(depth - 1))
    made = obj(**fields)
    made["required"] = [name for name in fields if draw(st.booleans())]
    return made if draw(st.booleans()) else {**made, "title": draw(st.sampled_from(["One", "Two"]))}


@st.composite
def unions(draw: st.DrawFn, depth: int = 1) -> dict[str, Any]:
    branches = draw(st.lists(objects(depth), min_size=2, max_size=3))
    branches += draw(st.sampled_from([[], [{"type": "null"}], [{"type": "integer"}]]))
    return {"oneOf": branches}


VALUES = st.recursive(
    st.sampled_from(["x", "y", 1, 2, None, True]),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", "c", "kind", "d"]), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=3 * settings.default.max_examples)
@given(unions(), st.lists(VALUES, max_size=12), st.sampled_from(["", "mcp", "openapi"]))
def test_an_imported_union_accepts_exactly_what_the_schema_accepts(
    field: dict[str, Any], values: list[Any], target: str
) -> None:
    read = imported(field)
    (draft,) = read.drafts
    spec, _ = parse_tool(draft.text, "pay.tool.md")
    assert spec is not None
    check, source = fits(spec.parameters[0].shape), jsonschema.Draft202012Validator(field)
    judges = [source.is_valid]
    if target == "mcp":
        (item,) = export("mcp", [spec]).items
        exported = jsonschema.Draft202012Validator(item["inputSchema"]["properties"]["x"])
        judges.append(exported.is_valid)
    if distinct(field):
        for value in values:
            assert {judge(value) for judge in judges} == {check(value)}


def distinct(field: Any) -> bool:
    """Tell whether no shape stands twice in a union, which then fits no value at all."""
    if not isinstance(field, dict):
        return True
    branches = field.get("oneOf", [])
    bare = [json.dumps({**one, "title": ""}, sort_keys=True) for one in branches]
    below = [v for one in branches for v in one.get("properties", {}).values()]
    return len(set(bare)) == len(bare) and all(map(distinct, below))


def test_shapes_that_refer_to_each_other_are_read_in_bounded_time() -> None:
    defs = {
        f"D{n}": {
            "oneOf": [obj("a", a={"$ref": f"#/$defs/D{n + 1}"}, k={"const": k}) for k in "xy"]
        }
        for n in range(16)
    }
    began = time.process_time()
    read = imported({"$ref": "#/$defs/D0"}, **{"$defs": {**defs, "D16": TEXT}})

    assert read.drafts or read.refused
    assert time.process_time() - began < 10
