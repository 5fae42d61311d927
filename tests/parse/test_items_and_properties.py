"""Text next to and below Items, Properties, Enum and lists is read or reported."""

import pytest

from toolmd._parse import format_text, parse_tool

TOOL = """\
# Count Boats

Count the boats in a harbour.

## Metadata

- **Name**: count_boats
- **Version**: 1.0.0
- **Category**: harbour

## Parameters

### boats

{fields}

## Returns

- **Type**: integer
- **Description**: How many
"""


def schema_of(fields: str):
    spec, diagnostics = parse_tool(TOOL.format(fields=fields), "count_boats.tool.md")
    assert spec is not None, [str(d) for d in diagnostics]
    formatted = format_text(TOOL.format(fields=fields), "count_boats.tool.md")
    again, _ = parse_tool(formatted, "count_boats.tool.md")
    assert again is not None
    assert again.hash == spec.hash
    return spec.input_schema["properties"]["boats"]


def errors_of(fields: str):
    spec, diagnostics = parse_tool(TOOL.format(fields=fields), "count_boats.tool.md")
    assert spec is None
    return [d.code for d in diagnostics if d.severity == "error"]


def test_items_keeps_its_type_next_to_fields_of_an_item():
    items = schema_of(
        "- **Type**: array\n- **Items**:\n  - **Description**: A boat\n  - afloat\n"
        "- **Properties**:\n  - name: string\n"
    )["items"]
    assert items["type"] == "object"
    assert items["description"] == "A boat\n\n- afloat"
    assert items["properties"] == {"name": {"type": "string"}}


def test_fields_next_to_items_of_another_type_are_an_error():
    fields = "- **Type**: array\n- **Items**: string\n- **Properties**:\n  - name: string\n"
    assert errors_of(fields) == ["field-mismatch"]


def test_items_below_a_type_that_includes_theirs_keep_that_type():
    items = schema_of("- **Type**: list[list[int]]\n- **Items**:\n  - **Max Items**: 2\n")["items"]
    assert items == {"type": "array", "items": {"type": "integer"}, "maxItems": 2}


def test_contradicting_type_and_items_are_an_error():
    assert errors_of("- **Type**: list[int]\n- **Items**: string\n") == ["duplicate-field"]


def test_details_in_brackets_after_items_are_read():
    items = schema_of("- **Type**: array\n- **Items**: (integer, min 1): a berth\n")["items"]
    assert items == {"type": "integer", "description": "a berth", "minimum": 1}


@pytest.mark.parametrize("words", [" the boat's own", "\n  the boat's own", " `[a-z]`\nfloats"])
def test_words_after_properties_are_kept_once_with_the_fields_below(words):
    shape = schema_of(f"- **Type**: object\n- **Properties**:{words}\n  - **name**: string\n")
    assert list(shape["properties"]) == ["name"]
    assert shape["description"].split() == words.split()


def test_words_after_properties_that_name_no_field_are_an_error():
    assert errors_of("- **Type**: object\n- **Properties**: `[+]`\n") == ["invalid-name"]


def test_a_value_that_begins_on_the_line_below_its_key_is_read_once():
    shape = schema_of(
        "- **Type**: string\n- **Description**:\n  The mast\n  of it\n- **Enum**:\n  a, b"
    )
    assert shape == {"type": "string", "description": "The mast of it", "enum": ["a", "b"]}


@pytest.mark.parametrize("below", ["- It has a mast", "> It has a mast"])
def test_text_below_an_enum_value_is_kept(below):
    shape = schema_of(f"- **Type**: string\n- **Enum**:\n  - sloop\n    {below}\n  - dinghy\n")
    assert shape["enum"] == ["sloop", "dinghy"]
    assert "It has a mast" in shape["description"]


def test_text_below_a_value_of_a_restricting_list_is_an_error():
    limits = "## Limits\n\n- **Allowed Domains**:\n  - example.org\n    - example.com\n"
    text = f"{TOOL.format(fields='- **Type**: string')}\n{limits}"
    spec, diagnostics = parse_tool(text, "count_boats.tool.md")
    assert spec is None
    assert [d.code for d in diagnostics] == ["unreadable-value"]


def test_a_default_of_nested_bullets_keeps_the_text_below_them():
    shape = schema_of("- **Type**: string\n- **Default**:\n  - sloop\n    - mast\n")
    assert "mast" in shape["default"]


def test_an_enum_contains_equal_numbers_once():
    assert schema_of("- **Type**: number\n- **Enum**: 1, 1.0, 2.5\n")["enum"] == [1, 2.5]


def test_a_fence_below_the_error_of_an_example_is_reported():
    example = (
        "## Examples\n\n### Fog\n\n```json\n{}\n```\n\n- **Error**: fog\n  ```\n  thick\n  ```\n"
    )
    text = f"{TOOL.format(fields='- **Type**: string')}\n{example}"
    spec, diagnostics = parse_tool(text, "count_boats.tool.md")
    assert spec is not None
    assert [d.code for d in diagnostics] == ["invalid-example"]
    assert spec.examples[0].error == "fog"


def test_each_value_describes_the_values_of_an_object_with_any_fields():
    shape = schema_of(
        "- **Type**: object\n- **Each Value**:\n  - **Type**: integer\n  - **Maximum**: 5\n"
    )
    assert shape == {"type": "object", "additionalProperties": {"type": "integer", "maximum": 5}}


def test_each_value_next_to_properties_is_an_error():
    fields = "- **Type**: object\n- **Each Value**: string\n- **Properties**:\n  - name: string\n"
    assert errors_of(fields) == ["field-mismatch"]


def test_words_of_an_enum_stay_words_next_to_null():
    fields = '- **Type**: string | null\n- **Enum**: none, null, "null", ""\n'
    assert schema_of(fields)["enum"] == ["none", None, "null", ""]
