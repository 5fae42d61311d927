"""Words such as required stand next to a name or in a field, and not above a group."""

import pytest
from tests.definitions import tool

from toolmd._parse import parse_tool


def read(parameters: str):
    spec, diagnostics = parse_tool(tool("weigh", parameters), "weigh.tool.md")
    return spec, [d.code for d in diagnostics]


@pytest.mark.parametrize(
    "written",
    [
        "### animal (required)\n\n- **Type**: string\n\n### unit (optional)\n\n- **Type**: string",
        "### animal [required]\n\n- **Type**: string\n\n### unit\n\n- **Type**: string",
    ],
)
def test_a_flag_by_a_heading_is_read(written):
    spec, codes = read(written)
    assert codes == []
    assert spec is not None
    assert list(spec.input_schema["properties"]) == ["animal", "unit"]
    assert spec.input_schema["required"] == ["animal"]
    assert not spec.sections


@pytest.mark.parametrize(
    "written",
    [
        "Required:\n- `animal` (string)",
        "**Optional parameters:**\n\n- `animal` (string)",
        "- Required\n- `animal` (string)",
        "### Required\n\n#### animal\n\n- **Type**: string",
    ],
)
def test_a_group_is_an_error_that_names_the_flag(written):
    spec, found = parse_tool(tool("weigh", written), "weigh.tool.md")
    assert spec is None
    errors = [d for d in found if d.severity == "error"]
    assert "at each of its parameters" in errors[0].help


@pytest.mark.parametrize("name", ["range.start", "rows[].name"])
def test_a_dotted_name_is_an_error_that_names_properties(name):
    spec, found = parse_tool(tool("weigh", f"### {name}\n\n- **Type**: string"), "weigh.tool.md")
    assert spec is None
    assert "`- **Properties**:`" in found[0].help


@pytest.mark.parametrize(
    "line",
    [
        "- `from`, `to` (date): The days",
        "- `from` / `to` (date): The days",
        "- `from` or `to`: The days",
        "| Name | Type |\n|---|---|\n| from, to | date |",
    ],
)
def test_two_names_in_one_line_are_an_error(line):
    spec, codes = read(line)
    assert spec is None
    assert "invalid-name" in codes


def test_a_description_may_begin_with_a_sign():
    spec, _ = read("- `file` (string): /srv/scales, the file\n- `unit` (string): + or -")
    assert spec is not None


def test_names_that_expressions_cannot_tell_apart_are_an_error():
    spec, codes = read("- `animal_id` (string)\n- `animal-id` (string)")
    assert spec is None
    assert codes == ["duplicate-parameter"]
