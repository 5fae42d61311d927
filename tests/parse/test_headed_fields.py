"""A heading below a parameter or a result is its field, as a bullet of the same words is."""

import pytest
from tests.definitions import tool

from toolmd._parse import parse_tool


def read(parameters: str = "None", returns: str = ""):
    text = tool("weigh", parameters)
    if returns:
        text = text.replace("- **Type**: object\n- **Description**: What came of it\n", returns)
    return parse_tool(text, "weigh.tool.md")


def property_of(parameters: str) -> dict:
    spec, diagnostics = read(parameters)
    assert spec is not None, [str(d) for d in diagnostics]
    assert [d.code for d in diagnostics] in ([], ["array-without-items"])
    assert list(spec.input_schema["properties"]) == ["animal"]
    return spec.input_schema["properties"]["animal"]


@pytest.mark.parametrize(
    ("kind", "heading", "below", "expected"),
    [
        ("string", "Description", "Which one", {"description": "Which one"}),
        ("string", "Default", "cow", {"default": "cow"}),
        ("string", "Enum", "cow, pig", {"enum": ["cow", "pig"]}),
        ("string", "Allowed Values", "- `cow`\n- `pig`", {"enum": ["cow", "pig"]}),
        ("string", "Min Length", "2", {"minLength": 2}),
        ("string", "max length", "9", {"maxLength": 9}),
        ("string", "Max Length: 9", "", {"maxLength": 9}),
        ("string", "Pattern", "`[a-z]+`", {"pattern": "^(?:[a-z]+)$"}),
        ("string", "Example", "cow", {"examples": ["cow"]}),
        ("string", "Sensitive", "yes", {"x-sensitive": True}),
        ("string", "Sensitive", "", {"x-sensitive": True}),
        ("string", "sensitive: yes", "", {"x-sensitive": True}),
        ("integer", "Maximum", "5", {"maximum": 5}),
        ("array", "Items", "integer", {"items": {"type": "integer"}}),
        ("array", "Max Items", "3", {"items": {}, "maxItems": 3}),
        ("object", "Each Value", "integer", {"additionalProperties": {"type": "integer"}}),
        (
            "object",
            "Each Value",
            "- **Type**: integer\n- **Maximum**: 5",
            {"additionalProperties": {"type": "integer", "maximum": 5}},
        ),
    ],
)
def test_a_heading_below_a_parameter_is_its_field(kind, heading, below, expected):
    written = f"### animal\n\n- **Type**: {kind}\n\n#### {heading}\n\n{below}\n"
    assert property_of(written) == {"type": kind} | expected


def test_a_heading_required_below_a_text_requires_it():
    spec, diagnostics = read("### animal\n\n- **Type**: string\n\n#### Required\n\nyes\n")
    assert not diagnostics
    assert spec is not None
    assert spec.input_schema["required"] == ["animal"]


SHAPES = """\
#### One Of

- **herd**:
  - **size** (integer, required)
- **single**:
  - **tag** (string, required)
"""


def test_the_shapes_below_a_heading_may_be_bullets():
    written = f"### animal\n\n- **Type**: object\n\n{SHAPES}"
    assert [shape["title"] for shape in property_of(written)["oneOf"]] == ["herd", "single"]


@pytest.mark.parametrize(
    "heading",
    ["Sensitve", "Upper Limit", "Multiple Of", "Requires Confirmation", "Constraints", "Sensibel"],
)
def test_a_heading_that_sounds_like_a_restriction_is_an_error_and_no_parameter(heading):
    spec, diagnostics = read(f"### animal\n\n- **Type**: string\n\n#### {heading}\n\n5\n")
    assert spec is None
    assert any(d.severity == "error" and heading in d.message for d in diagnostics)


RESULT = "- **Type**: {}\n- **Description**: The weights\n\n"


@pytest.mark.parametrize(
    ("kind", "below", "expected"),
    [
        (
            "object",
            "### Properties\n\n- **total** (number)",
            {"properties": {"total": {"type": "number"}}, "additionalProperties": False},
        ),
        (
            "object",
            "### total\n\n- **Type**: number\n\n#### Minimum\n\n0",
            {
                "properties": {"total": {"type": "number", "minimum": 0}},
                "additionalProperties": False,
            },
        ),
        (
            "array",
            "### Items\n\n- **Type**: number\n- **Minimum**: 0",
            {"items": {"type": "number", "minimum": 0}},
        ),
        (
            "object",
            "### Items\n\n- **Type**: number",
            {"properties": {"Items": {"type": "number"}}, "additionalProperties": False},
        ),
    ],
)
def test_headings_below_a_result_are_its_fields(kind, below, expected):
    spec, diagnostics = read(returns=RESULT.format(kind) + below)
    assert not diagnostics
    assert spec is not None
    assert spec.output_schema == {"type": kind, "description": "The weights"} | expected


def test_items_described_below_a_text_are_an_error():
    spec, _ = read("### animal\n\n- **Type**: string\n\n#### Items\n\n- **Maximum**: 5\n")
    assert spec is None
