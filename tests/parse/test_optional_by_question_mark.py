"""In a list that marks optional parameters with `name?`, the others are required."""

import pytest

from toolmd._parse import parse_tool

TOOL = """\
# T

Do it.

## Metadata

- **Name**: t
- **Version**: 1.0.0
- **Category**: g

## Parameters

{}

## Returns

- **Type**: object
- **Description**: r
"""
CANONICAL = """\
### city

- **Type**: string
- **Required**: true
- **Description**: Town

### radius_km

- **Type**: number
- **Required**: false
- **Description**: How far"""


def read(parameters: str):
    return parse_tool(TOOL.format(parameters), "t.tool.md")


@pytest.mark.parametrize(
    "parameters",
    [
        "- city: string \u2014 Town\n- radius_km?: number \u2014 How far",
        "- city: string - Town\n- radius_km?: number - How far",
        "- `city`: string \u2014 Town\n- `radius_km?`: number \u2014 How far",
        "- **city** (string): Town\n- **radius_km?** (number): How far",
        "- **city** (string): Town\n- **radius_km**? (number): How far",
        "- city: string \u2014 Town\n- radius_km?: number (optional) \u2014 How far",
        "- city: string, required \u2014 Town\n- radius_km?: number \u2014 How far",
        "**city** (string): Town\n\n**radius_km?** (number): How far",
        "### city: string\n\nTown\n\n### radius_km?: number\n\nHow far",
        (
            "### city\n\n- Type: string\n- Description: Town\n\n"
            "### radius_km?\n\n- Type: number\n- Description: How far"
        ),
        (
            "| Name | Type | Description |\n|---|---|---|\n| city | string | Town |\n"
            "| radius_km? | number | How far |"
        ),
        (
            "| Name | Type | Required | Description |\n|---|---|---|---|\n"
            "| city | string | | Town |\n"
            "| `radius_km?` | number | | How far |"
        ),
    ],
)
def test_the_unmarked_ones_are_required(parameters):
    spec, diagnostics = read(parameters)
    canonical, _ = read(CANONICAL)
    assert not diagnostics
    assert spec is not None
    assert (spec.canonical, spec.hash) == (canonical.canonical, canonical.hash)


@pytest.mark.parametrize(
    "city",
    [
        "city (string, optional): Town",
        "city: string, optional \u2014 Town",
        "city (string): Town\n  - **Required**: no",
        "city (string): Town\n  - **Optional**: yes",
    ],
)
def test_an_explicit_word_overrides_the_marks_of_others(city):
    spec, _ = read(f"- {city}\n- radius_km?: number \u2014 How far")
    assert spec is not None
    assert [p.required for p in spec.parameters] == [False, False]


def test_a_list_without_marks_stays_optional():
    spec, _ = read("- city: string \u2014 Town\n- radius_km: number \u2014 How far")
    assert [p.required for p in spec.parameters] == [False, False]


@pytest.mark.parametrize(
    "radius",
    [
        "radius_km? (number, required): How far",
        "radius_km?: number \u2014 How far\n  - **Required**: yes",
        "radius_km?: number \u2014 How far\n  - **Optional**: no",
    ],
)
def test_a_mark_that_contradicts_its_own_field_is_an_error(radius):
    spec, diagnostics = read(f"- city: string \u2014 Town\n- {radius}")
    assert spec is None
    assert {d.code for d in diagnostics if d.severity == "error"} <= {"duplicate-field", "conflict"}


@pytest.mark.parametrize(
    "fields",
    [
        "- **Properties**:\n  - city: string\n  - radius_km?: number",
        (
            "- **Properties**:\n  - **city**:\n    - **Type**: string\n"
            "  - **radius_km?**:\n    - **Type**: number"
        ),
        "- **Properties**: `{ city: string, radius_km?: number }`",
    ],
)
def test_properties_of_objects_follow_the_same_rule(fields):
    spec, _ = read(f"### place\n\n- **Type**: object\n- **Required**: no\n{fields}")
    assert spec is not None
    assert [p.required for p in spec.parameters[0].shape.properties] == [True, False]
