"""A heading is a parameter or a property; a field is a bullet."""

import pytest
from tests.definitions import tool

from toolmd._parse import parse_tool


def read(parameters: str = "None", returns: str = ""):
    text = tool("weigh", parameters)
    if returns:
        text = text.replace("- **Type**: object\n- **Description**: What came of it\n", returns)
    return parse_tool(text, "weigh.tool.md")


@pytest.mark.parametrize(
    ("kind", "heading", "below"),
    [
        ("string", "Description", "Which one"),
        ("string", "Enum", "- `cow`\n- `pig`"),
        ("string", "max length", "9"),
        ("string", "Max Length: 9", ""),
        ("string", "Sensitive", ""),
        ("string", "sensitive: yes", ""),
        ("string", "Sensitve", "5"),
        ("string", "Upper Limit", "5"),
        ("string", "Multiple Of", "5"),
        ("string", "Requires Confirmation", "5"),
        ("string", "Items", "- **Maximum**: 5"),
        ("integer", "Constraints", "- **Maximum**: 5"),
        ("string", "bounds", "- **Required**: yes\n- **Max Length**: 5"),
        ("array", "Constraints", "- **Max Items**: 5"),
        ("array", "Items", "integer"),
        ("object", "Each Value", "- **Type**: integer"),
        ("object", "One Of", "- **herd**:\n  - **size** (integer, required)"),
        ("object", "Properties", "##### sku (string, required)"),
    ],
)
def test_a_heading_below_a_parameter_is_no_field(kind, heading, below):
    spec, found = read(f"### animal\n\n- **Type**: {kind}\n\n#### {heading}\n\n{below}\n")
    assert spec is None
    assert any(d.severity == "error" and heading.split(":")[0] in d.message for d in found)


RESULT = "- **Type**: {}\n- **Description**: The weights\n\n"


def test_headings_below_a_result_are_its_properties():
    total = "### total\n\n- **Type**: number\n- **Minimum**: 0"
    spec, found = read(returns=RESULT.format("object") + total)
    assert not found
    assert spec is not None
    assert spec.output_schema["properties"] == {"total": {"type": "number", "minimum": 0}}


@pytest.mark.parametrize("heading", ["Properties", "Items", "Minimum"])
def test_a_heading_below_a_result_is_no_field(heading):
    spec, found = read(returns=RESULT.format("object") + f"### {heading}\n\n0")
    assert spec is None
    assert "misplaced-field" in [d.code for d in found]
