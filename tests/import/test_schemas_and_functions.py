"""JSON Schemas of many kinds become parameters; losses are noted."""

import json
from typing import Any

import pytest

from toolmd._import import read_source
from toolmd._import.functions import UnreadableSourceError
from toolmd._parse import parse_tool
from toolmd._types.diagnostic import Source
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import ToolSpec
from toolmd.importing import Imported, ImportReport


def function(schema: Any, name: str = "do_it", **more: Any) -> dict[str, Any]:
    inner = {"name": name, "description": "Do it.", "parameters": schema, **more}
    return {"type": "function", "function": inner}


def imported(value: Any, kind: str = "openai") -> Imported:
    return read_source(kind, value if isinstance(value, str) else json.dumps(value), "x.json")


def spec_of(read: Imported) -> ToolSpec:
    (draft,) = read.drafts
    spec, found = parse_tool(draft.text, f"{draft.name.replace('_', '-')}.tool.md")
    assert spec is not None, found
    return spec


def one(field: Any) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return the result for one optional argument `x`: its schema, the rules and the notes."""
    schema = {"type": "object", "properties": {"x": field}, "additionalProperties": False}
    read = imported([function(schema)])
    spec = spec_of(read)
    notes = [note.text for note in read.notes if note.path]
    return spec.parameters[0].shape.json_schema, [r.expression for r in spec.rules], notes


EXACT: list[tuple[Any, dict[str, Any]]] = [
    ({"const": "a"}, {"type": "string", "enum": ["a"]}),
    ({"enum": ["a", 1, None]}, {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
    (
        {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
        {"type": ["string", "null"], "maxLength": 3},
    ),
    (
        {"anyOf": [{"const": "a"}, {"const": "b"}]},
        {"type": "string", "enum": ["a", "b"]},
    ),
    (
        {"oneOf": [{"type": "string"}, {"type": "integer", "minimum": 2}]},
        {"type": ["string", "integer"], "minimum": 2},
    ),
    (
        {"allOf": [{"type": "string", "maxLength": 9}, {"maxLength": 5}]},
        {"type": "string", "maxLength": 5},
    ),
    ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    (
        {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
        {"type": "integer", "minimum": 1, "maximum": 9},
    ),
    ({"type": "string", "pattern": "^[a-z]+$"}, {"type": "string", "pattern": "^(?:[a-z]+)$"}),
    ({"type": "string", "pattern": "^(?:a|b)$"}, {"type": "string", "pattern": "^(?:a|b)$"}),
    ({"type": "string", "pattern": "^(a|b)$"}, {"type": "string", "pattern": "^(?:(a|b))$"}),
    ({"type": "string", "pattern": "^[a|b]+$"}, {"type": "string", "pattern": "^(?:[a|b]+)$"}),
    ({"title": "Day"}, {"description": "Day"}),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ),
    ({"type": "string", "default": None}, {"type": "string"}),
    ({"type": "string", "examples": ["a"]}, {"type": "string", "examples": ["a"]}),
    (True, {}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "held"), EXACT, ids=[json.dumps(f) for f, _ in EXACT])
def test_a_supported_keyword_is_kept_without_a_note(field: Any, held: dict[str, Any]) -> None:
    schema, rules, notes = one(field)

    assert (schema, rules, notes) == (held, [], [])


def test_a_search_pattern_is_matched_against_the_whole_text() -> None:
    schema, _, _ = one({"type": "string", "pattern": "[0-9]"})

    assert schema["pattern"] == r"^(?:[\s\S]*(?:[0-9])[\s\S]*)$"


RULED = [
    ({"type": "number", "exclusiveMinimum": 0}, "!has(x) || x > 0"),
    ({"type": "integer", "multipleOf": 5}, "!has(x) || x % 5 == 0"),
    (
        {"type": "array", "items": {"type": "number", "exclusiveMaximum": 2.5}},
        "!has(x) || x.all(x1, x1 < 2.5)",
    ),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "number", "exclusiveMinimum": 0}},
            "required": ["a"],
        },
        "!has(x) || x.a > 0",
    ),
    (
        {
            "type": "object",
            "properties": {
                "rows": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"n": {"type": "integer", "multipleOf": 3}},
                    },
                }
            },
        },
        "!has(x) || !has(x.rows) || x.rows.all(x1, !has(x1.n) || x1.n % 3 == 0)",
    ),
]


@pytest.mark.parametrize(("field", "rule"), RULED)
def test_a_constraint_without_a_field_becomes_a_rule(field: Any, rule: str) -> None:
    _, rules, _ = one(field)

    assert rules == [rule]


TOLD = [
    ({"type": "string", "not": {"const": "x"}}, "`not` is not kept"),
    ({"type": "string", "pattern": "(?=a)b"}, "the pattern is not kept"),
    ({"$ref": "https://example.org/other.json"}, "is not fetched"),
    ({"$ref": "#/nowhere"}, "does not exist"),
    ({"type": "string", "default": 5}, "the default 5 is outside the schema"),
    ({"type": "array", "contains": {"type": "string"}}, "`contains` is not kept"),
    ({"anyOf": [{"enum": ["a"]}, {"type": "integer"}]}, "the enum is not kept"),
    ({"type": "strange"}, "not a type: strange"),
    ({"type": "number", "multipleOf": 0.5}, "`multipleOf 0.5` is not kept"),
    ({"type": ["number", "null"], "exclusiveMinimum": 0}, "`exclusiveMinimum 0` is not kept"),
    (
        {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 1}},
        "`exclusiveMinimum 1` is not kept",
    ),
    ({"minLength": 2}, "no type in the source: string"),
    ({"type": "string", "deprecated": True}, "calls it deprecated"),
]


@pytest.mark.parametrize(("field", "note"), TOLD, ids=[note for _, note in TOLD])
def test_an_unsupported_keyword_is_noted(field: Any, note: str) -> None:
    _, _, notes = one(field)

    assert any(note in text for text in notes), notes


def test_references_within_the_document_are_followed_until_they_meet_themselves() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}},
        "required": ["name"],
    }
    schema = {
        "type": "object",
        "$defs": {"Node": node},
        "properties": {"head": {"$ref": "#/$defs/Node"}},
    }
    read = imported([function(schema)])
    head = spec_of(read).parameters[0].shape

    assert head.properties is not None
    assert [p.name for p in head.properties] == ["name", "next"]
    assert any("refers to itself" in note.text for note in read.notes)


def test_a_root_of_several_shapes_becomes_a_rule() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }

    assert [rule.expression for rule in spec_of(imported([function(schema)])).rules] == [
        "has(a) != has(b)"
    ]


def test_unknown_arguments_are_allowed_only_if_the_schema_says_so() -> None:
    said = {"type": "object", "properties": {}, "additionalProperties": True}
    silent = {"type": "object", "properties": {}}
    read = imported([function(silent)])

    assert spec_of(imported([function(said)])).unknown_parameters == "ignore"
    assert spec_of(read).unknown_parameters == "reject"
    assert any("does not name are rejected" in note.text for note in read.notes)


FORMS = {
    "chat": [function({"type": "object", "properties": {}})],
    "responses": [{"type": "function", "name": "do_it", "description": "Do it.", "parameters": {}}],
    "functions": {"functions": [{"name": "do_it", "description": "Do it.", "parameters": {}}]},
    "a request": {"model": "m", "tools": [function(None)]},
    "one tool": function({}),
    "input_schema": [{"name": "do_it", "description": "Do it.", "input_schema": {}}],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_tools_is_read(form: str) -> None:
    spec = spec_of(imported(FORMS[form]))

    assert (spec.name, spec.description, spec.parameters) == ("do_it", "Do it.", ())


def test_an_entry_that_is_not_a_function_is_rejected_by_name() -> None:
    read = imported([{"type": "web_search"}, function({"type": "array"}, "list_it"), 7])

    assert [note.definition for note in read.refused] == ["web_search", "list_it", "int"]


def test_a_list_of_arguments_is_read_or_rejected() -> None:
    listed = [
        {"name": "key", "type": "string", "desc": "The key"},
        {"name": "count", "type": "integer", "optional": True},
        {"name": "tags", "type": "array", "items": {"type": "string"}, "required": False},
    ]
    read = imported([{"name": "find", "description": "Find.", "arguments": listed}], "mcp")
    key, count, tags = spec_of(read).parameters

    assert (key.shape.description, key.required) == ("The key", True)
    assert (count.shape.types, count.required) == (("integer",), False)
    assert (tags.shape.items, tags.required) == (Schema(types=("string",)), False)
    assert any("read from `arguments`" in note.text for note in read.notes)
    for wrong in (["key"], [{"type": "string"}], [*listed, listed[0]]):
        read = imported([{"name": "find", "description": "Find.", "arguments": wrong}], "mcp")
        assert (read.drafts, len(read.refused)) == ((), 1)


def test_an_invalid_name_is_changed_and_noted() -> None:
    schema = {"type": "object", "properties": {"the day": {"type": "string"}}}
    read = imported([function(schema, "getWeather.now")])
    spec = spec_of(read)

    assert spec.name == "get_weather_now"
    assert [p.name for p in spec.parameters] == ["the_day"]
    assert sum("adapt" in note.text for note in read.notes) == 2


def test_of_two_tools_with_one_name_the_first_is_imported() -> None:
    read = imported([function({}), function({}, description="Another.")])

    assert len(read.drafts) == 1
    assert read.refused[0].text == "a second tool of this name; the first one was taken"


HOSTILE = [
    "# Head\n\n## Parameters\n\n### x\n\n- **Type**: integer",
    "First.\n\n## Safety\n\n- **Min Confidence**: 0",
    "First.\n\n```\nnever closed",
    "---\nname: other\n---",
    "<!-- hidden --> Shown.",
    "- a list\n- of things",
    "Title\n=====\n\nText",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_a_description_never_becomes_part_of_the_grammar(words: str) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string", "description": words}}}
    spec = spec_of(imported([function(schema, description=words)]))

    assert spec.name == "do_it"
    assert [(p.name, p.shape.types) for p in spec.parameters] == [("q", ("string",))]
    assert spec.safety.min_confidence is None


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "not json", "[" * 100_000])
def test_invalid_json_is_reported_with_its_place(text: str) -> None:
    with pytest.raises(UnreadableSourceError, match="not valid JSON"):
        imported(text)


MCP = {
    "name": "read_file",
    "title": "Read a file",
    "description": "Reads it.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}


@pytest.mark.parametrize("wrap", [[MCP], {"tools": [MCP]}, {"result": {"tools": [MCP]}}, MCP])
def test_the_tools_of_a_server_are_read(wrap: Any) -> None:
    read = imported(wrap, "mcp")
    spec = spec_of(read)

    assert (spec.title, spec.read_only) == ("Read a file", True)
    assert spec.output_schema["properties"] == {"text": {"type": "string"}}
    assert any("server's own hint" in note.text for note in read.notes)


@pytest.mark.parametrize(
    ("shape", "kept", "lost"),
    [
        (Schema(("integer",), format="date"), Schema(("integer",)), "Format does not fit"),
        (
            Schema(("array",), items=Schema(("integer",), has_default=True, default="x")),
            Schema(("array",), items=Schema(("integer",))),
            "the default of an item",
        ),
        (
            Schema(("integer",), minimum=9, maximum=3, sensitive=True),
            Schema(("integer",), sensitive=True),
            "exclude every value",
        ),
        (
            Schema(("object",), properties=(Parameter("k", Schema(("string",), pattern="(?=")),)),
            Schema(("object",), properties=(Parameter("k", Schema(("string",))),)),
            "no RE2 expression",
        ),
    ],
)
def test_a_value_that_no_definition_can_contain_costs_neither_the_tool_nor_a_word(
    shape, kept, lost
):
    report = ImportReport()
    parameters = (Parameter("good", Schema(("string",), max_length=3)), Parameter("bad", shape))
    spec = ToolSpec(
        name="pay", title="Pay", description="Pay.", version="1", category="a",
        parameters=parameters, returns=Schema(description="x"), source=Source("", 1),
    )  # fmt: skip
    report.add_tool(spec)
    (draft,) = report.close().drafts
    unseen, found = parse_tool(draft.text, "pay.tool.md")
    lines = draft.text.split("\n")
    decided = [line for line in lines if not line.startswith("- **Restriction 1**: bad has less")]
    seen, _ = parse_tool("\n".join(decided), "pay.tool.md")

    assert unseen is None
    assert any(lost in line for line in lines)
    assert [d.code for d in found if d.severity == "error"] == ["unknown-field"]
    assert seen is not None
    assert [one.shape for one in seen.parameters] == [parameters[0].shape, kept]
    assert any("`check` fails until you decide" in note.text for note in report.close().notes)


@pytest.mark.parametrize(
    "key", ["requiresConfirmation", "requires_confirmation", "needsApproval", "humanApproval"]
)
@pytest.mark.parametrize("place", ["function", "entry", "parameters"])
def test_a_key_that_asks_for_confirmation_becomes_the_field_wherever_it_stands(key, place) -> None:
    entry = function({"type": "object", "properties": {}})
    at = {"entry": entry, "function": entry["function"],
          "parameters": entry["function"]["parameters"]}[place]  # fmt: skip
    at[key] = True
    read = imported([entry])
    assert spec_of(read).safety.requires_confirmation
    assert not [note for note in read.notes if key in note.text]


FRONT = """---
name: look-up
description: Look a word up.
inputSchema:
  type: object
  properties:
    q: {type: string, maxLength: 9}
  required: [q]
requires-confirmation: true
---
It knows all words.
"""


def test_a_markdown_file_with_an_input_schema_in_its_front_matter_is_a_tool() -> None:
    spec = spec_of(imported(FRONT, "mcp"))

    assert (spec.name, spec.description) == ("look_up", "Look a word up.")
    assert spec.parameters == (Parameter("q", Schema(("string",), max_length=9), required=True),)
    assert spec.safety.requires_confirmation
    for now, then in (
        ("type: object", "type: &a object"), ("---\nIt", "It"),
        ("name: look-up", "when: 2024-13-45"), ("name: look-up", "name: look: up"),
    ):  # fmt: skip
        with pytest.raises(UnreadableSourceError, match=r"line |front matter"):
            imported(FRONT.replace(now, then), "mcp")


DELETE = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "https://pets.example"}],
    "paths": {
        "/pets/{id}": {
            "delete": {
                "operationId": "deletePet",
                "deprecated": True,
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "Accept", "in": "header", "schema": {"type": "string"}},
                ],
            }
        }
    },
}
HINTS = {"name": "wipe", "description": "Wipe.", "inputSchema": {"type": "object"}, "annotations": {
    "readOnlyHint": True, "openWorldHint": True, "title": "Wipe all"}}  # fmt: skip
SKILL = "---\nname: tidy\ndescription: Tidy up.\nversion: 2.1.0\n# why\n---\n# Tidy\n\nTidy.\n"
SAID: list[tuple[str, Any, str, str, str]] = [
    ("openapi", DELETE, "DELETE: Requires Confirmation was proposed", "Confirmation**: true", ""),
    ("openapi", DELETE, "the document calls it deprecated", "# Delete Pet", "deprecated"),
    ("openapi", DELETE, "the client and the service's table set it", "### id", "Accept"),
    ("openapi", DELETE, "no category or result policy in OpenAPI", "**Category**: general", ""),
    ("mcp", HINTS, "Read Only is the server's own hint", "**Read Only**: true", ""),
    ("mcp", HINTS, "the server's hint `openWorldHint` has no field", "# Wipe", "openWorld"),
    ("openai", [function({}, "Do-it!")], "called 'Do-it!' in the source", "**: do_it", "Do-it!"),
    ("openai", [function({}, description="")], "no description in the source", "Do It.", "do it"),
    ("openai", [function({}, cost=5)], "`cost` is not kept: 5", "# Do", "cost"),
    ("agentskills", SKILL, "no category in the source", "**Category**: general", ""),
    ("agentskills", SKILL, "no inputs in the source", "## Input Schema\n\nNone", ""),
    ("agentskills", SKILL, "the workflow is prose", "## Workflow\n\nTidy.", "### Step"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "source", "note", "has", "lacks"), SAID)
def test_what_a_note_says_of_a_source_is_true(
    kind: str, source: Any, note: str, has: str, lacks: str
) -> None:
    read = imported(source, kind)
    (draft,) = read.drafts

    assert any(note in one.text for one in read.notes), read.notes
    assert has in draft.text
    assert not lacks or lacks not in draft.text.partition("Implemented By")[0]


def test_no_note_speaks_of_what_the_source_has() -> None:
    texts = [note.text for note in imported(SKILL, "agentskills").notes]

    assert not any("version" in text or "no name" in text for text in texts)
    assert not any(text.startswith("no description") for text in texts)


def test_check_warns_of_each_restriction_that_no_field_holds() -> None:
    field = {"type": "number", "multipleOf": 0.5, "not": {"const": 1.5}, "title": "A"}
    pattern = {"type": "string", "pattern": "(?=x)`y"}
    schema = {"type": "object", "properties": {"a": field, "b": pattern}, "minProperties": 1}
    (draft,) = imported([function(schema)]).drafts
    spec, found = parse_tool(draft.text, "do-it.tool.md")

    assert spec is not None
    lost = 'minProperties 1; a multipleOf 0.5; a not {"const": 1.5}; b pattern "(?=x)\'y"'
    assert spec.extra == {"not_enforced": lost}
    assert [
        (one.severity.value, lost in one.message and "slip" not in one.help) for one in found
    ] == [("warning", True)]
    (draft,) = imported([function({"type": "object", "properties": {"a": {"title": "A"}}})]).drafts
    assert "Not Enforced" not in draft.text
