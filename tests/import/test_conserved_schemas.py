"""Each keyword of a schema ends in the definition, in its export, or in a note that names it."""

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolmd._export.targets import export
from toolmd._import import read_source
from toolmd._import.names import brief
from toolmd._parse import parse_tool
from toolmd._types.imported import Imported
from toolmd._types.tool import ToolSpec
from toolmd._validation import fits

WORDS = st.sampled_from(
    ["none", "null", "None", "", "true", "1", "a", "B c", "x,y", "d|e", "`q`", "#FFF", "* z", '"']
)  # fmt: skip
SOMETIMES: list[tuple[str, Any]] = [
    ("description", st.sampled_from(["A city", "<b>bold</b>", "Two\n\nparts", "- must: x"])),
    ("default", WORDS | st.integers(-3, 3) | st.none()),
    ("examples", st.lists(WORDS, min_size=1, max_size=1)),
    ("minimum", st.integers(-3, 3)),
    ("exclusiveMaximum", st.integers(4, 9)),
    ("multipleOf", st.integers(1, 3)),
    ("minLength", st.integers(0, 2)),
    ("maxLength", st.integers(3, 5)),
    ("pattern", st.sampled_from(["^a+$", "b", "^(a|1)$", "^a|1$", "(?=c)"])),
    ("format", st.sampled_from(["date", "x-own"])),
    ("minItems", st.integers(0, 2)),
    ("contains", st.just({"type": "string"})),
    ("minProperties", st.integers(0, 2)),
    ("not", st.just({"const": "a"})),
    ("x-note", st.just("kept")),
    ("if", st.just({"minLength": 1})),
]
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])


@st.composite
def plain(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = {}
    kinds = draw(st.lists(TYPES, max_size=2, unique=True))
    if kinds:
        made["type"] = kinds[0] if len(kinds) == 1 else kinds
    if not draw(st.integers(0, 2)):
        made["enum"] = draw(st.lists(WORDS | st.none() | st.integers(0, 2), min_size=1, max_size=4))
    for keyword, values in draw(st.lists(st.sampled_from(SOMETIMES), max_size=2)):
        made[keyword] = draw(values)
    return made


def nested(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["a", "none", "type", "b-c"])
    fields = st.dictionaries(names, inner, min_size=1, max_size=2)
    closed = st.builds(
        lambda fields, open_, needed: {
            "type": "object",
            "properties": fields,
            "required": [*fields][:needed],
            "additionalProperties": open_,
        },
        fields,
        st.just(False) | inner,
        st.integers(0, 2),
    )
    return st.one_of(
        closed,
        st.builds(lambda one: {"type": "array", "items": one}, inner),
        st.builds(lambda one: {"type": "object", "additionalProperties": one}, inner),
        st.builds(lambda word, ones: {word: ones}, st.sampled_from(["anyOf", "oneOf", "allOf"]),
                  st.lists(inner, min_size=1, max_size=2)),
    )  # fmt: skip


SCHEMAS = st.recursive(plain(), nested, max_leaves=5)
VALUES = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(-3, 9) | st.just(1.5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "none", "type", "z"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def imported(field: Any) -> tuple[Imported, ToolSpec | None]:
    root = {"type": "object", "properties": {"x": field}, "additionalProperties": False}
    tool = {"name": "pay", "description": "Pay.", "inputSchema": root}
    read = read_source("mcp", json.dumps({"tools": [tool]}), "tools.json")
    texts = [draft.text.split("\n") for draft in read.drafts]
    decided = ["\n".join(line for line in text if line[:15] != "- **Restriction") for text in texts]
    spec = parse_tool(decided[0], "pay.tool.md")[0] if decided else None
    assert spec is not None or read.refused
    return read, spec


def noted(read: Imported) -> str:
    return "\n".join(f"{note.path} {note.text}" for note in read.notes if note.definition)


@given(SCHEMAS, st.lists(VALUES, max_size=12))
@example({"type": ["string", "null"], "enum": ["none", None, ""]}, ["none", None, "", "null"])
@example({"type": "object", "additionalProperties": {"type": "integer", "maximum": 5}}, [{"a": 9}])
@example({"type": "object", "properties": {}}, [{"a": 1}])
@example({"oneOf": [{"type": "integer"}, {"type": "number"}]}, [1, 1.5])
@example({"type": "string", "pattern": "^(a|1)$"}, ["a", "1", "a1"])
@example({"type": "string", "pattern": "^a|1$"}, ["ab", "b1", "b\n1", "b"])
@example({"oneOf": [{"x-note": "kept"}, {"x-note": "kept"}]}, [[]])
@example({"oneOf": [{"type": "object", "properties": {"a": {"type": "string"}}}] * 2}, [{"a": ""}])
def test_a_schema_without_a_note_accepts_exactly_what_its_source_accepts(
    field: dict[str, Any], values: list[Any]
) -> None:
    read, spec = imported(field)
    if spec is None or noted(read) or spec.rules:
        return
    source = jsonschema.Draft202012Validator(field)
    (item,) = export("mcp", [spec]).items
    target = jsonschema.Draft202012Validator(item["inputSchema"]["properties"]["x"])
    check = fits(spec.parameters[0].shape)
    for value in values:
        if "format" not in json.dumps(field):
            assert check(value) == source.is_valid(value), value
        assert target.is_valid(value) == source.is_valid(value), value


@given(SCHEMAS)
def test_each_keyword_is_kept_or_named_in_a_note(field: dict[str, Any]) -> None:
    read, spec = imported(field)
    if spec is None:
        return
    said = noted(read)
    text = read.drafts[0].text.partition("## Parameters")[2]
    for keyword, value in keywords(field):
        shown = json.dumps(value, ensure_ascii=False)
        kept = json.dumps(spec.parameters[0].shape.json_schema, ensure_ascii=False)
        told = keyword in said or shown in said
        assert told or shown in kept or str(value) in text, (keyword, value)


def keywords(schema: Any) -> list[tuple[str, Any]]:
    """Return each plain keyword with its value, at any depth; of allOf the tightest one stays."""
    found: list[tuple[str, Any]] = []
    for keyword, value in schema.items():
        if keyword == "properties":
            found += [pair for one in value.values() for pair in keywords(one)]
        elif keyword in {"items", "additionalProperties"} and isinstance(value, dict):
            found += keywords(value)
        elif keyword in {"anyOf", "oneOf"}:
            found += [pair for one in value for pair in keywords(one)]
        elif keyword in {"minimum", "maxLength", "format", "contains", "not", "if", "minItems"}:
            found.append((keyword, value))
    return found


IN_OTHER_WORDS = [
    ({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}, "object"),
    ({"type": "dict", "properties": {"a": {"type": "float"}}}, "object"),
    ({"type": "tuple", "items": {"type": "float"}}, "array"),
    ({"type": "any"}, None),
    ({"type": "list[str]"}, "array"),
    ({"type": "string | null"}, ["string", "null"]),
    ({"type": "HashMap"}, "object"),
    ({"type": "String"}, "string"),
]


@pytest.mark.parametrize(("field", "kind"), IN_OTHER_WORDS, ids=json.dumps)
def test_types_in_the_words_of_other_languages_are_read(field: Any, kind: Any) -> None:
    read, spec = imported(field)

    assert spec is not None
    assert spec.parameters[0].shape.json_schema.get("type") == kind
    assert "is read as" in noted(read)


def test_a_field_that_says_itself_that_it_is_required_is_required() -> None:
    root = {"type": "object", "properties": {"x": {"type": "string", "required": True}}}
    tool = {"name": "pay", "description": "Pay.", "parameters_json_schema": root, "cost": 5}
    read = read_source("openai", json.dumps([tool]), "tools.json")
    spec, _ = parse_tool(read.drafts[0].text, "pay.tool.md")

    assert spec is not None
    assert spec.parameters[0].required
    assert "`cost` is not kept: 5" in noted(read)


def test_a_schema_under_an_unknown_key_is_read_and_told() -> None:
    root = {"type": "object", "properties": {"x": {"type": "string"}}}
    read = read_source(
        "openai", json.dumps([{"name": "pay", "description": "Pay.", "spec": root}]), "-"
    )

    assert "### x" in read.drafts[0].text
    assert "the arguments were read from `spec`" in noted(read)


def at(schema: Any, path: str) -> dict[str, Any] | None:
    """Return the exported schema at a note's path; None where shapes of an object hide it."""
    for part in re.findall(r"\[\]|\.\*|[^.\[]+", path):
        if not isinstance(schema, dict) or {"oneOf", "anyOf", "allOf"} & set(schema):
            return None
        if part in {"[]", ".*"}:
            schema = schema.get("items" if part == "[]" else "additionalProperties")
        else:
            schema = schema.get("properties", {}).get(part)
    shapes = isinstance(schema, dict) and {"oneOf", "anyOf", "allOf"} & set(schema)
    return schema if isinstance(schema, dict) and not shapes else None


def lacks(keyword: str, value: str = "") -> Callable[[dict[str, Any]], bool]:
    # An export adds `items` to each array.
    return lambda one: one.get(keyword, {}) == {} or (value != "" and brief(one[keyword]) != value)


def is_open(one: dict[str, Any]) -> bool:
    return set(one) <= {"description", "default", "examples"}


TRUE: list[tuple[str, Callable[..., Callable[[dict[str, Any]], bool]]]] = [
    (r"`(\S+) (.+)` is not kept", lacks),
    (r"`(\S+)` is not kept: (.+)", lacks),
    (r"`(\S+)` is not kept beside `const`: (.+)", lacks),
    (r"`(\S+)` can't be read: it is not kept", lacks),
    (r"`(\S+)` is not the same in all shapes, and not kept: (?:.+)", lacks),
    (r"the (pattern) is not kept: (?:.+)", lacks),
    (r"an (enum) next to a type of any value: the enum is not kept", lacks),
    (r"`(\S+)` does not fit .+?: (?:.+)", lacks),
    (r"of two `(\S+)` the (?:last one|first) was taken,(?: and)? not (.+)",
     lacks),
    (r"no value fits both `(?:type|enum)` .+ and (.+): the first was taken",
     lambda two: lambda one: json.loads(two) not in (one.get("type"), one.get("enum"))),
    (r"the (default|example) (.+) is outside the schema: left out", lacks),
    (r".*read as any value|.*any value from (?:here|there) on", lambda: is_open),
    (r".*(?:read as |: )any object", lambda: lambda one: not {"properties", "required"} & set(one)),
    (r"no type in the source: (.+), from its other words", lambda kinds: lambda one: (
        set(kinds.split(" or ")) <= set([one["type"]] if isinstance(one.get("type"), str)
                                        else one.get("type", ())))),
    (r"other fields are allowed there, and not here: (?:.+)",
     lambda: lambda one: one.get("additionalProperties") is False),
    (r"the enum's (.+) is outside its own schema: left out", lambda values: lambda one: (
        not any(value in one.get("enum", ()) for value in json.loads(values)))),
    (r"the enum lists items instead of arrays: it is kept for the items",
     lambda: lambda one: "enum" not in one and "enum" in one["items"]),
]  # fmt: skip
"""What a note says, and what is then true of the exported schema at its place."""


@given(SCHEMAS)
@example({"allOf": [{"type": "string"}, {"type": "integer"}]})
@example({"allOf": [{"enum": ["a"]}, {"enum": ["b"]}]})
@example({"allOf": [{"type": "string"}, {"anyOf": [{"minimum": 0}]}]})
@example({"anyOf": [{}, {"minimum": 0}]})
@example({"type": "string", "default": 5, "enum": ["a", 1]})
@example({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer"}]})
@example({"type": "array", "enum": ["a", "b"]})
@example({"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}})
@example({"allOf": [{"type": "array", "items": {"pattern": "(?=c)"}}, {"minItems": 2}]})
def test_what_a_note_says_of_a_schema_is_true(field: dict[str, Any]) -> None:
    read, spec = imported(field)
    if spec is None:
        return
    exported = export("mcp", [spec]).items[0]["inputSchema"]
    # The type of one shape may be lost where the shapes are joined, and a note says so.
    joined = {note.path for note in read.notes if re.search(r"first was taken|not kept", note.text)}
    for note in read.notes:
        place = at(exported, note.path) if note.path else None
        if place is None or "…" in note.text:
            continue
        for pattern, holds in TRUE:
            if match := re.fullmatch(pattern, note.text):
                said = holds(*[one for one in match.groups() if one is not None])
                of_a_shape = note.text.startswith("no type in the source") and note.path in joined
                assert said(place) or of_a_shape, (note.text, place)
                break
        else:
            assert note.text.startswith(("a value that fits several shapes", "`", "renamed",
                                         "the source calls it")), note.text  # fmt: skip
