"""Every text is written so that it is read back as the same default, example and enum."""

import pytest
from tests.definitions import tool

from toolmd._parse import format_text, parse_tool, tool_text
from toolmd._types.schema import Parameter, Schema

TEXTS = [
    "- x", "* y", "# z", "> q", "1.", "2)", "```", "`", "``", "`t`", "a `b`", "'q'", '"dq"', "“c”",
    "**b**", "_i_", "<!-- c -->", "<b>", "\xa0", "a\xa0b", " lead", "", "none", "N/A", "-", "7",
    "yes", "x,y", "a or b", "d|e", "a; b", "x: y", "Sensitive: yes", "a\\b", "[1]", "✅",
    "or", "and", "~", "a (b)", "2", "true", "null", "{}", "a, b", "km/h", "n/a", "a / b",
]  # fmt: skip
TYPES = ["string", "string integer boolean", "string array object null", ""]


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("kind", ["default", "example", "enum", "lone"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_back_as_it_was_written(text, kind, types):
    given = {"enum": tuple(dict.fromkeys(("{a}", "a`b", text, "zz", text + "`")))}
    given = {"enum": (text,)} if kind == "lone" else given
    given = {kind: text, f"has_{kind}": True} if kind in {"default", "example"} else given
    parameter = Parameter("a", Schema(types=tuple(types.split()), **given), required=False)
    base, _ = parse_tool(tool("weigh"), "weigh.tool.md")
    assert base is not None
    spec = base.model_copy(update={"parameters": (parameter,)})
    written = format_text(tool_text(spec), "weigh.tool.md")
    assert written is not None
    again, found = parse_tool(written, "weigh.tool.md")
    assert again is not None, [str(d) for d in found]
    assert again.parameters == spec.parameters


def test_a_separator_at_the_end_of_a_list_is_a_value():
    text = tool("weigh", "### a\n\n- **Type**: string\n- **Enum**: `{a}`, `~`, or")
    spec, _ = parse_tool(text, "weigh.tool.md")
    assert spec is not None
    assert spec.parameters[0].shape.enum == ("{a}", "~", "or")


@pytest.mark.parametrize(
    ("written", "value"),
    [("`_id_`", "_id_"), ("`**`", "**"), ("`*a*`", "*a*"), ('`"a"`', "a"), ("**`a`**", "a")],
)
def test_a_code_span_is_read_as_written_apart_from_quotes(written, value):
    text = tool("weigh", f"### a\n\n- **Type**: string\n- **Default**: {written}")
    spec, _ = parse_tool(text, "weigh.tool.md")
    assert spec is not None
    assert spec.parameters[0].shape.default == value


@pytest.mark.parametrize("line", ['**Tags**: "a', "**Tags**: a\\b", "**Audience**: 1."])
def test_an_odd_value_of_metadata_is_read_back_as_it_was_written(line):
    text = tool("weigh").replace("- **Category**", f"- {line}\n- **Category**")
    spec, _ = parse_tool(text, "weigh.tool.md")
    written = format_text(text, "weigh.tool.md")
    assert spec is not None
    assert written is not None
    again, _ = parse_tool(written, "weigh.tool.md")
    assert again is not None
    assert (again.tags, again.extra) == (spec.tags, spec.extra)
