"""Words next to a type are read as a field, reported as an error, or kept with a warning."""

import pytest
from tests.definitions import tool

from toolmd._parse import parse_tool


def read(details: str):
    return parse_tool(tool("weigh", f"- `animal` ({details}): Which one"), "weigh.tool.md")


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ("string, one of cow", {"enum": ["cow"]}),
        ("string, one of `cow`", {"enum": ["cow"]}),
        ("string, one of cow, default cow", {"enum": ["cow"], "default": "cow"}),
        ("string, one of cow, optional", {"enum": ["cow"]}),
        ("string, one of required, optional", {"enum": ["required", "optional"]}),
        ("string, default 'cow, brown'", {"default": "cow, brown"}),
        ('string, default: "cow, brown"', {"default": "cow, brown"}),
        ("string, default ''", {"default": ""}),
    ],
)
def test_one_value_and_quoted_values_are_read(details, expected):
    spec, diagnostics = read(details)
    assert not diagnostics
    assert spec is not None
    found = spec.input_schema["properties"]["animal"]
    assert found == {"type": "string", "description": "Which one"} | expected


@pytest.mark.parametrize(
    "details",
    [
        "integer, multipleOf: 5",
        "number, exclusiveMinimum 0",
        "string, const: cow",
        "string, size 10",
        "integer, [0, 100]",
    ],
)
def test_a_restriction_in_other_words_is_an_error(details):
    spec, diagnostics = read(details)
    assert spec is None
    assert any(d.severity == "error" and d.help for d in diagnostics)


@pytest.mark.parametrize(
    "words", ["one of them", "one of the herd", "lowercase", "2 decimals", "5 or less"]
)
def test_other_words_are_kept_with_a_warning(words):
    spec, diagnostics = read(f"string, {words}")
    assert [(d.code, d.severity) for d in diagnostics] == [("unread-detail", "warning")]
    assert spec is not None
    assert words in spec.input_schema["properties"]["animal"]["description"]


@pytest.mark.parametrize(
    "line",
    [
        "`animal` (string) **required**: A *big* one",
        "`animal` (string) *required* - A *big* one",
        "`animal` (string), **required**: A *big* one",
        "`animal` (string): **required**. A *big* one",
        "`animal` (string) Required. A *big* one",
        "animal * (string): A *big* one",
        "animal (string) *: A *big* one",
        "animal (string)*: A *big* one",
        "animal: string **required** - A *big* one",
    ],
)
def test_required_behind_a_type_is_no_part_of_the_description(line):
    spec, diagnostics = parse_tool(tool("weigh", f"- {line}"), "weigh.tool.md")
    assert not diagnostics
    assert spec is not None
    assert spec.input_schema["properties"]["animal"]["description"] == "A *big* one"
    assert spec.input_schema["required"] == ["animal"]
