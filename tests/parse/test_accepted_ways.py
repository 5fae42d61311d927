"""Common ways of writing parameters are read alike, without a warning."""

import pytest

from toolmd._parse import parse_tool

HEAD = """\
# T

Do it.

## Metadata

- **Name**: t
- **Version**: 1.10
- **Category**: g

"""
TAIL = "\n\n## Returns\n\n- **Type**: object\n- **Description**: r\n"
CITY = {"type": "string", "description": "The city"}
DAYS = {"type": "integer", "description": "Days", "default": 3, "minimum": 1, "maximum": 7}
WAYS = {
    "a table": """\
## Parameters

| Parameter | Type | Required | Default | Min | Max | Description |
|---|---|---|---|---|---|---|
| `city` | string | yes | | | | The city |
| days | int | no | 3 | 1 | 7 | Days |
""",
    "a table without outer pipes, in other words": """\
## Args

Name | Data type | Required? | Default value | Details | minimum | maximum
--- | --- | --- | --- | --- | --- | ---
**city** | str | ✅ | - | The city | - | -
`days` | `int` | ❌ | 3 | Days | 1 | 7
""",
    "bullets": """\
## Inputs

- `city` (string, required): The city
- `days` (integer, optional, default 3, 1-7): Days
""",
    "bullets with types behind the colon": """\
## Params

- **city**: string, required - The city
- **days**?: int - Days
  - min: 1
  - max: 7
  - default: 3
""",
    "bold lines": """\
## Parameters

**city** (string, required): The city

**days** (integer): Days

- Minimum: 1
- Maximum: 7
- Default: 3
""",
    "headings that say the type": """\
## Arguments

### city (string, required)

The city

### days: integer

Days

* Min: 1
* max: 7
* default: 3
""",
    "lines without bullets": """\
## Parameters

### city

**Type**: string
**Required**: yes
**Description**: The city

### days

Type: integer
Description: Days
Minimum: 1
Maximum: 7
Default: 3
""",
    "a table of fields": """\
## Parameters

### city

| Field | Value |
|---|---|
| Type | string |
| Required | true |
| Description | The city |

### days

| Type | integer |
|---|---|
| Description | Days |
| Minimum | 1 |
| Maximum | 7 |
| Default | 3 |
""",
    "numbered bullets": """\
## Parameters

1. `city` (string, required): The city
2. `days` (integer): Days
   1. **Minimum**: 1
   2. **Maximum**: 7
   3. **Default**: 3
""",
    "headings of the section's own level": """\
## Parameters

## city

- Type: string
- Required: true
- Description: The city

## days

- Type: integer
- Description: Days
- Minimum: 1
- Maximum: 7
- Default: 3
""",
    "headings at different levels": """\
### Parameters

#### city

- Type: string
- Required: true
- Description: The city

##### days

- Type: integer
- Description: Days
- Minimum: 1
- Maximum: 7
- Default: 3
""",
    "a line in bold or a code span, and its fields below": """\
## 2 Parameters

**city**

The city

- Type: string
- Required: true

`days`:

- Type: integer
- Description: Days
- Minimum: 1
- Maximum: 7
- Default: 3
""",
    "a default behind the type, and marked words": """\
## Parameters <!-- of the call -->

- `city` `string` *required* - The city
- `days?: int = 3` - Days
  - min: 1
  - max: 7
""",
    "stars at what is required": """\
## Parameters

- `city`* (string): The city
- **days** (int, 1-7, default 3): Days
""",
    "types in italics": """\
## Parameters

- **city** *string, required* \u2014 The city
- **days** _int_ \u2013 Days
  - min: 1
  - max: 7
  - default: 3
""",
    "a name and its type in one code span": """\
## Parameters

- `city: string` (required): The city
- `days: int = 3` \u2013 Days
  - min: 1
  - max: 7
""",
    "dashes between all": """\
## Parameters

- city \u2014 string \u2014 required \u2014 The city
- days \u2012 integer \u2012 optional \u2012 Days
  - min: 1
  - max: 7
  - default: 3
""",
    "flags before the type": """\
## Parameters

**city** *(required)* `string`
The city

**days** `integer`
Days

- Minimum: 1
- Maximum: 7
- Default: 3
""",
    "boxes, ticked or not": """\
## Parameters {#params}

### city {#city}

- Type: string
- [x] Required
- Description: The city

### [days](#days)

- Type: integer
- [ ] Required
- Description: Days
- Minimum: 1
- Maximum: 7
- Default: 3
""",
    "lines broken by backslashes": """\
## (2) Parameters

### city

**Type**: string\\
**Required**: yes\\
**Description**: The city

### days

Type: integer\\
Description: Days\\
Minimum: 1\\
Maximum: 7\\
Default: 3
""",
    "a heading with a question mark, and the word as well": """\
## Parameters

### city: string (required)

The city

### days?: integer = 3

Days

- Required: no
- Minimum: 1
- Maximum: 7
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_writing_parameters_reads_as_the_same(way):
    spec, diagnostics = parse_tool(HEAD + WAYS[way] + TAIL, "t.tool.md")
    assert [str(d) for d in diagnostics] == []
    assert spec is not None
    assert spec.input_schema == {
        "type": "object",
        "properties": {"city": CITY, "days": DAYS},
        "required": ["city"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("int (1-3)", {"type": "integer", "minimum": 1, "maximum": 3}),
        ("int (1-3), optional", {"type": "integer", "minimum": 1, "maximum": 3}),
        ("string (sensitive)", {"type": "string", "x-sensitive": True}),
        ("string, x|y", {"type": "string", "enum": ["x", "y"]}),
        ('string, "x" | "y"', {"type": "string", "enum": ["x", "y"]}),
        ('string, enum=["x", "y"]', {"type": "string", "enum": ["x", "y"]}),
        ("string, choices: x, y, optional", {"type": "string", "enum": ["x", "y"]}),
        ("enum(x, y)", {"type": "string", "enum": ["x", "y"]}),
        (
            "Record<string, number>, optional",
            {"type": "object", "additionalProperties": {"type": "number"}},
        ),
        (
            "Array<Map<string, int>>",
            {
                "type": "array",
                "items": {"type": "object", "additionalProperties": {"type": "integer"}},
            },
        ),
    ],
)
def test_a_type_in_a_line_may_have_brackets_commas_and_values_of_its_own(written, schema):
    for line in (f"- `a` ({written}): The a", f"- `a`: {written} - The a"):
        spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n{line}{TAIL}", "t.tool.md")
        assert [str(d) for d in diagnostics] == []
        assert spec.input_schema["properties"]["a"] == {**schema, "description": "The a"}


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        ("str", {"type": "string"}),
        ("String", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("dict", {"type": "object"}),
        ("list[str]", {"type": "array", "items": {"type": "string"}}),
        ("string[]", {"type": "array", "items": {"type": "string"}}),
        ("number[][]", {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}),
        ("array of string", {"type": "array", "items": {"type": "string"}}),
        ("list of integers", {"type": "array", "items": {"type": "integer"}}),
        ("Array<string>", {"type": "array", "items": {"type": "string"}}),
        ('"a" | "b"', {"type": "string", "enum": ["a", "b"]}),
        ("'a' or 'b'", {"type": "string", "enum": ["a", "b"]}),
        ('Literal["a", "b"]', {"type": "string", "enum": ["a", "b"]}),
        ("1 | 2", {"type": "integer", "enum": [1, 2]}),
        ("string | array", {"type": ["string", "array"], "items": {}}),
        ("`string`", {"type": "string"}),
        ("Optional[str]", {"type": ["string", "null"]}),
        ("str | None", {"type": ["string", "null"]}),
        ("dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("Record<string, any>", {"type": "object"}),
        ("datetime", {"type": "string", "format": "date-time"}),
        ("string (date)", {"type": "string", "format": "date"}),
        ("array (string)", {"type": "array", "items": {"type": "string"}}),
        ("enum(a, b)", {"type": "string", "enum": ["a", "b"]}),
        ("`a` | `b`", {"type": "string", "enum": ["a", "b"]}),
        ("any", {}),
        (
            "{ start: string, end?: string }",
            {
                "type": "object",
                "properties": {"start": {"type": "string"}, "end": {"type": "string"}},
                "required": ["start"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_types_of_other_languages_read_as_json_schema_types(written, schema):
    text = f"{HEAD}## Parameters\n\n### a\n\n- **Type**: {written}\n{TAIL}"
    spec, diagnostics = parse_tool(text, "t.tool.md")
    assert spec is not None, [str(d) for d in diagnostics]
    assert spec.input_schema["properties"]["a"] == schema


@pytest.mark.parametrize(
    "written",
    [
        "a, b, c",
        "`a`, `b`, `c`",
        '"a", "b", "c"',
        "a | b | c",
        "a or b or c",
        "a, b or c",
        "a, b, or c",
        "['a', 'b', 'c']",
        "(a, b, c)",
        "one of a, b, c",
        "a; b; c",
        "a\uff0cb\uff0cc",
        "\u00aba\u00bb, \u2018b\u2019, \u201cc\u201d",
        "`a` and `b` and `c`",
        "\n  - a\n  - b\n  - c",
        '\n  - `a`\n  - "b"\n  - c',
    ],
)
def test_an_enum_in_any_form_reads_as_its_values(written):
    text = f"{HEAD}## Parameters\n\n### a\n\n- **Type**: string\n- **Enum**: {written}\n{TAIL}"
    spec, diagnostics = parse_tool(text, "t.tool.md")
    assert diagnostics == ()
    assert spec.input_schema["properties"]["a"]["enum"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "written",
    ["None", "none.", "- None", "N/A", "_No parameters_", "This tool takes no parameters.", ""],
)
def test_words_may_state_that_a_tool_has_no_parameters(written):
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n{written}\n{TAIL}", "t.tool.md")
    assert diagnostics == ()
    assert spec.input_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_versions_are_text():
    spec, _ = parse_tool(f"{HEAD}## Parameters\n\nNone\n{TAIL}", "t.tool.md")
    assert spec.version == "1.10"


def test_objects_nest_sixteen_deep():
    lines = "### a0\n\n- **Type**: object\n"
    for level in range(1, 16):
        kind = "object" if level < 15 else "string"
        lines += f"{'  ' * (level - 1)}- **a{level}** ({kind})\n"
    spec, found = parse_tool(f"{HEAD}## Parameters\n\n{lines}{TAIL}", "t.tool.md")
    assert spec is not None, found
    schema = spec.input_schema
    for level in range(16):
        schema = schema["properties"][f"a{level}"]
    assert schema == {"type": "string"}


@pytest.mark.parametrize(
    "enum",
    [
        "- **Type**: string\n- **Enum**: `in`, `out`",
        "- **Type**: string\n- **Enum**: `in` `out`",
        "- **Type**: string\n- **Enum**: `in`, or `out`",
    ],
)
def test_values_in_code_spans_are_split_at_their_separators(enum):
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n### side\n\n{enum}{TAIL}", "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.parameters[0].shape.enum == ("in", "out")


@pytest.mark.parametrize("kind", ["(`in` | `out`, optional)", "(`in`, `out`)", ": `in` | `out`"])
def test_values_in_code_spans_after_a_name_are_its_enum(kind):
    line = f"- `side` {kind}" if kind[0] == "(" else f"- `side`{kind}"
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n{line}{TAIL}", "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.parameters[0].shape.json_schema == {"type": "string", "enum": ["in", "out"]}


@pytest.mark.parametrize(
    ("title", "name"), [("Paramters", "Parameters"), ("Retuns", "Returns"), ("Metdata", "Metadata")]
)
def test_a_misspelt_section_is_read_with_a_fix(title, name):
    text = f"{HEAD}## Parameters\n\nNone{TAIL}".replace(f"## {name}", f"## {title}")
    spec, (found,) = parse_tool(text, "t.tool.md")
    assert spec is not None
    assert (found.code, found.severity, found.fix[0].text) == ("misspelt-section", "warning", name)


def test_a_pattern_in_quotes_is_the_pattern():
    field = '### code\n\n- **Type**: string\n- **Pattern**: "[A-Z]{3}"'
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n{field}{TAIL}", "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.parameters[0].shape.pattern == "[A-Z]{3}"


@pytest.mark.parametrize("name", ["2shelve", "Shelve-" + "a" * 58, "a" * 65])
def test_a_name_that_cannot_be_repaired_is_an_error(name):
    text = f"{HEAD}## Parameters\n\nNone{TAIL}".replace("**Name**: t", f"**Name**: {name}")
    spec, (found,) = parse_tool(text, "t.tool.md")
    assert spec is None
    assert (found.code, found.fix) == ("invalid-name", ())


def test_markdown_escapes_are_removed_from_a_bare_value():
    field = "- **Type**: string\n- **Enum**: to\\_go, `a\\_b`\n- **Default**: to\\_go"
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n### side\n\n{field}{TAIL}", "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert (spec.parameters[0].shape.enum, spec.parameters[0].shape.default) == (
        ("to_go", "a\\_b"),
        "to_go",
    )


def test_a_note_after_a_value_in_a_code_span_is_kept():
    field = "- **Type**: string\n- **Enum**: `full` (with dinner), `half`"
    spec, diagnostics = parse_tool(
        f"{HEAD}## Parameters\n\n### board\n\n{field}{TAIL}", "t.tool.md"
    )
    assert not diagnostics
    assert spec is not None
    shape = spec.parameters[0].shape
    assert (shape.enum, shape.description) == (("full", "half"), "(`full`: with dinner)")


@pytest.mark.parametrize(
    "field",
    [
        "- **Type**: object\n- **Properties**: `{ sku: string, qty?: int }`",
        "- **Type**: object\n\n**Properties**\n\n- sku (string, required)\n- qty (int)",
        "- **Type**: object\n\n#### sku (string, required)\n\n#### qty (int)",
    ],
)
def test_the_fields_of_an_object_may_be_written_in_many_ways(field):
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n### line\n\n{field}{TAIL}", "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.input_schema["properties"]["line"] == {
        "type": "object",
        "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}},
        "required": ["sku"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(("written", "kind"), [("`number`", "number"), ("`string`[]", "array")])
def test_a_type_alone_below_a_name_is_read_as_in_api_references(written, kind):
    text = f"{HEAD}## Parameters\n\n### count\n\n{written}\n\nHow many.\n{TAIL}"
    spec, diagnostics = parse_tool(text, "t.tool.md")
    assert not diagnostics
    assert spec is not None
    shape = spec.parameters[0].shape
    assert (shape.types, shape.description) == ((kind,), "How many.")


@pytest.mark.parametrize(
    "field",
    [
        "- **Type**: array\n- **Items**:\n  - integer",
        "- **Type**: array\n- **Items**: integer",
        "- **Type**: array\n- **Items**:\n  - **Type**: integer",
    ],
)
def test_the_items_of_an_array_may_be_written_in_many_ways(field):
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n### days\n\n{field}{TAIL}", "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.input_schema["properties"]["days"] == {
        "type": "array",
        "items": {"type": "integer"},
    }


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_objects_nest_sixteen_deep_by_bullets(indent):
    lines = ["### a0", "", "- **Type**: object", "- **Properties**:"]
    for level in range(1, 16):
        left = indent * (2 * level - 1)
        kind = "object" if level < 15 else "string"
        lines += [f"{left}- **a{level}**:", f"{left}{indent}- **Type**: {kind}"]
        lines += [f"{left}{indent}- **Properties**:"] if level < 15 else []
    text = f"{HEAD}## Parameters\n\n" + "\n".join(lines) + TAIL
    spec, diagnostics = parse_tool(text, "t.tool.md")
    assert not diagnostics
    assert spec is not None
    schema = spec.input_schema
    for level in range(16):
        schema = schema["properties"][f"a{level}"]
    assert schema == {"type": "string"}


@pytest.mark.parametrize("part", ["\u2012", "\u2015", "\u2212", "\u2011", "\uff1a", "\u2236"])
def test_any_dash_or_colon_separates_a_key_from_its_value(part):
    text = f"{HEAD}## Parameters\n\nNone{TAIL}".replace("**Version**:", f"**Version** {part}")
    spec, diagnostics = parse_tool(text, "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.version == "1.10"


@pytest.mark.parametrize(
    "values",
    [
        "a, b, and c d",
        "a, b, or c d",
        '`["a", "b", "c d"]`',
        "`a` \\| `b` \\| `c d`",
        "\n  - a\n  - b\n  - c d",
    ],
)
def test_the_values_of_an_enum_may_be_listed_in_many_ways(values):
    spec, diagnostics = parse_tool(
        f"{HEAD}## Parameters\n\n### 2.1 kind\n\n- **Type**: string\n- **Enum**: {values}{TAIL}",
        "t.tool.md",
    )
    assert not diagnostics
    assert spec.input_schema["properties"] == {
        "kind": {"type": "string", "enum": ["a", "b", "c d"]}
    }


def test_a_default_may_be_a_list_without_quotes_and_a_number_may_begin_with_its_point():
    field = "### days\n\n- **Type**: string[]\n- **Default**: [mon, tue]"
    safety = "\n## Safety\n\n- **Min Confidence**: .8\n"
    spec, diagnostics = parse_tool(f"{HEAD}## Parameters\n\n{field}{TAIL}{safety}", "t.tool.md")
    assert not diagnostics
    assert spec.input_schema["properties"]["days"]["default"] == ["mon", "tue"]
    assert spec.canonical["safety"] == {"min_confidence": 0.8}


def test_lookalike_letters_are_equal_in_titles_and_keys():
    text = f"{HEAD}## \u0420\u0430rameters\n\nNone{TAIL}".replace("Version", "V\u0435rsi\u043en")
    spec, diagnostics = parse_tool(text, "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.version == "1.10"


def test_a_heading_without_its_space_is_repaired_with_a_fix():
    text = f"{HEAD}##Parameters\n\nNone{TAIL}"
    spec, (found,) = parse_tool(text, "t.tool.md")
    assert spec is not None
    assert (found.code, found.severity, found.fix[0].text) == (
        "misspelt-section",
        "warning",
        "## Parameters",
    )


def test_a_rule_between_two_sections_belongs_to_neither():
    plain = f"{HEAD}## Parameters\n\nNone{TAIL}"
    drawn, diagnostics = parse_tool(plain.replace("\n\n## ", "\n\n---\n\n## "), "t.tool.md")
    spec, _ = parse_tool(plain, "t.tool.md")
    assert not diagnostics
    assert (drawn.sections, drawn.hash) == ({}, spec.hash)


@pytest.mark.parametrize("section", ["Rules", "Safety", "Limits"])
@pytest.mark.parametrize("none", ["None", "- N/A", "_None_"])
def test_a_section_that_says_none_is_like_a_missing_one(section, none):
    plain = f"{HEAD}## Parameters\n\nNone{TAIL}"
    spec, diagnostics = parse_tool(f"{plain}\n## {section}\n\n{none}\n", "t.tool.md")
    assert not diagnostics
    assert spec.hash == parse_tool(plain, "t.tool.md")[0].hash


@pytest.mark.parametrize(
    ("field", "key", "value"),
    [
        ("Enum**: a, b (optional, for restricted values)", "enum", ["a", "b"]),
        ("Min Length**: 3 (at least)", "minLength", 3),
        ("Sensitive**: true (always)", "x-sensitive", True),
    ],
)
def test_a_remark_in_brackets_is_a_warning_and_no_part_of_the_value(field, key, value):
    text = f"{HEAD}## Parameters\n\n### a\n\n- **Type**: string\n- **{field}{TAIL}"
    spec, (found,) = parse_tool(text, "t.tool.md")
    assert (found.code, found.severity) == ("unread-detail", "warning")
    assert spec is not None
    assert spec.input_schema["properties"]["a"][key] == value


@pytest.mark.parametrize("values", ["a / b", "a/b", "mg/dL"])
def test_a_slash_between_the_only_values_of_an_enum_is_asked_about(values):
    text = f"{HEAD}## Parameters\n\n### a\n\n- **Type**: string\n- **Enum**: {{}}{TAIL}"
    spec, (found,) = parse_tool(text.format(values), "t.tool.md")
    assert spec is None
    assert found.code == "invalid-enum"
    spec, diagnostics = parse_tool(text.format(f'"{values}"'), "t.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.input_schema["properties"]["a"]["enum"] == [values]


@pytest.mark.parametrize(
    "line",
    ["Audience**: clinicians", "Scope**: one clinic", "Max Tokens**: 500", "Review**: 2026",
     "Access**: owner", "Upper Limit**: 7"],
)  # fmt: skip
def test_metadata_is_open(line):
    head = HEAD.replace("- **Category**: g\n", f"- **Category**: g\n- **{line}\n")
    spec, (found,) = parse_tool(f"{head}## Parameters\n\nNone{TAIL}", "t.tool.md")
    assert (found.code, found.severity) == ("unknown-field", "warning")
    assert spec is not None
    assert list(spec.extra.values()) == [line.partition(": ")[2]]
