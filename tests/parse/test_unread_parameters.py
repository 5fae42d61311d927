"""Unread parameters are an error; a misspelt field is never a parameter."""

import pytest

from toolmd._parse import parse_tool

TEXT = """\
# Weigh Animal

Put an animal on the scales.

## Metadata

- **Name**: weigh_animal
- **Version**: 1.0.0
- **Category**: surgery

## Parameters

{}

## Returns

{}
"""
RESULT = "- **Type**: number\n- **Description**: Kilograms"


def told(parameters: str, result: str = RESULT) -> tuple[bool, list[str]]:
    spec, diagnostics = parse_tool(TEXT.format(parameters, result), "weigh_animal.tool.md")
    return spec is not None, [d.code for d in diagnostics]


@pytest.mark.parametrize(
    "parameters",
    [
        "| Veld | Soort |\n|---|---|\n| animal | string |",
        "animal (str): Which one.\nunit (str, optional): kg or lb.",
        "animal : str\n    Which one.",
        ":param animal: which one",
        "- string `animal`: which one",
        "<table><tr><td>animal</td><td>string</td></tr></table>",
    ],
)
def test_unread_parameters_are_an_error(parameters):
    assert told(parameters) == (False, ["no-parameters-read"])


@pytest.mark.parametrize("nested", ["- **Minimum**: 1", "- Maximum: 5", "* `Max Length`: 9"])
def test_a_field_that_is_nested_below_a_description_is_an_error(nested):
    loads, codes = told(f"### weight\n\n- **Type**: integer\n- **Description**: Grams\n  {nested}")
    assert not loads
    assert codes == ["misplaced-field"]


def test_a_list_below_a_description_is_prose():
    listed = "  - dry: without water\n  - Example: a cat\n  - the minimum is one gram"
    assert told(f"### weight\n\n- **Type**: integer\n- **Description**: Grams\n{listed}") == (
        True,
        [],
    )


def test_the_error_of_a_table_with_unknown_columns_lists_the_known_ones():
    text = TEXT.format("| Veld | Soort |\n|---|---|\n| animal | string |", RESULT)
    _, (found,) = parse_tool(text, "weigh_animal.tool.md")
    assert (found.span.line, found.span.column) == (13, 3)
    assert "`Name`, `Type`, `Required`, `Default` and `Description`" in found.help


def test_a_sentence_instead_of_parameters_is_a_warning():
    assert told("The scales know what stands on them.") == (True, ["no-parameters-read"])


def test_fields_of_an_object_only_in_a_code_fence_are_an_error():
    field = "### box\n\n- **Type**: object\n- **Properties**:\n  ```json\n  {}\n  ```"
    assert told(field) == (False, ["no-parameters-read"])


@pytest.mark.parametrize("slip", ["Typ", "Tpye", "Tyype"])
def test_a_misspelt_type_is_not_a_field_of_an_object(slip):
    assert told(f"### animal\n\n- **{slip}**: string") == (True, ["misspelt-field"])
    assert told("None", RESULT.replace("Type", slip)) == (True, ["misspelt-field"])


@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("- **Type**: string, number", "duplicate-field"),
        ("- **Type**: string (required)\n- **Required**: no", "duplicate-field"),
        ("- **Type**: string\n- **Required**: yes\n- **Optional**: yes", "conflict"),
        ("- **Type**: string\n- **Pattern**: /^[a-z]+$/i", "unreadable-value"),
        ("- **Type**: string\n- **Required**: yes\n- [ ] Required", "duplicate-field"),
    ],
)
def test_contradicting_fields_are_an_error(field, code):
    assert told(f"### animal\n\n{field}") == (False, [code])


@pytest.mark.parametrize(
    ("written", "meant"), [("Date", "date"), ("EMAIL", "email"), ("Url", "uri")]
)
def test_a_format_is_checked_in_any_case(written, meant):
    field = f"### at\n\n- **Type**: string\n- **Format**: {written}"
    spec, _ = parse_tool(TEXT.format(field, RESULT), "weigh_animal.tool.md")
    assert spec is not None
    assert spec.parameters[0].shape.format == meant


def test_the_words_one_of_them_are_not_a_list_of_values():
    spec, (found,) = parse_tool(
        TEXT.format("- `animal` (string, one of them): which", RESULT), "weigh_animal.tool.md"
    )
    assert found.code == "unread-detail"
    assert spec is not None
    assert spec.parameters[0].shape.enum is None


def test_a_null_default_of_an_array_is_null():
    field = "### tags\n\n- **Type**: array | null\n- **Default**: null"
    spec, _ = parse_tool(TEXT.format(field, RESULT), "weigh_animal.tool.md")
    assert spec is not None
    assert spec.parameters[0].shape.default is None
    assert spec.parameters[0].shape.has_default


@pytest.mark.parametrize(
    ("details", "schema"),
    [
        ("integer, 1..100, default 10", {"minimum": 1, "maximum": 100, "default": 10}),
        ("integer, 1..", {"minimum": 1}),
        ("integer, ..100", {"maximum": 100}),
        ("integer, between 1 and 5", {"minimum": 1, "maximum": 5}),
        ("number, at most 2.5", {"maximum": 2.5}),
        ("integer, at least -3", {"minimum": -3}),
        ("string, 1..40 characters", {"minLength": 1, "maxLength": 40}),
        ("string, max length 40", {"maxLength": 40}),
        ("string, up to 40 letters", {"maxLength": 40}),
        ("array of string, 1..5 items", {"minItems": 1, "maxItems": 5}),
        ("string, one of a, b, default a", {"enum": ["a", "b"], "default": "a"}),
        ("string, one of a, b, optional", {"enum": ["a", "b"]}),
        ("string, one of optional, required", {"enum": ["optional", "required"]}),
    ],
)
def test_details_in_one_line_become_fields(details, schema):
    text = TEXT.format(f"- `what` ({details}): How many", RESULT)
    spec, found = parse_tool(text, "weigh_animal.tool.md")
    assert spec is not None, found
    assert not found
    shape = spec.input_schema["properties"]["what"]
    assert {key: shape[key] for key in schema} == schema
    assert set(shape) - set(schema) <= {"type", "description", "items"}


@pytest.mark.parametrize(
    "details",
    [
        "integer, 1..1OO",
        "integer, maximun 10",
        "integer, defalt 10",
        "string, pattrn [a-z]+",
    ],
)
def test_details_that_misspell_a_field_or_compare_are_an_error(details):
    text = TEXT.format(f"- `what` ({details}): How many", RESULT)
    spec, found = parse_tool(text, "weigh_animal.tool.md")
    assert spec is None
    assert [one.code for one in found if one.severity.name == "ERROR"] == ["unknown-field"]


@pytest.mark.parametrize("words", ["ISO 3166", "in metres", "see section 2", "the 2 letter code"])
def test_other_words_next_to_a_type_are_kept_with_a_warning(words):
    text = TEXT.format(f"- `what` (string, {words}): How many", RESULT)
    spec, (found,) = parse_tool(text, "weigh_animal.tool.md")
    assert spec is not None
    assert found.code == "unread-detail"
