"""A field within the value of another one, or in almost the right form, is an error."""

import pytest
from tests.definitions import tool

from toolmd._parse import parse_tool


def errors(text: str) -> list[str]:
    spec, diagnostics = parse_tool(text, "weigh.tool.md")
    found = [d for d in diagnostics if d.severity == "error"]
    assert (spec is None) is bool(found)
    assert all(d.help for d in found)
    return [d.code for d in found]


def metadata(line: str) -> str:
    return tool("weigh").replace("- **Category**: test\n", f"- **Category**: test\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "- **Tags**: a **Requires Auth**: yes",
        "- **Tags**: a, **Requires Auth:** yes",
        "- **Tags**: a (**Read Only**: yes)",
        "- **Tags**: a | __Requires Auth__: yes",
    ],
)
def test_a_field_within_the_value_of_another_one_is_an_error(line):
    assert errors(metadata(line)) == ["misplaced-field"]


def test_fields_nested_below_a_word_are_an_error():
    assert errors(metadata("\n    - **Read Only**: yes")) == ["unreadable-value"]


@pytest.mark.parametrize(
    "line",
    [
        "- requires_auth=true",
        "- requires_auth->true",
        "- Requires Context → tenant",
        "- Requires Auth yes",
    ],
)
def test_a_restriction_in_the_metadata_with_another_sign_is_an_error(line):
    assert errors(metadata(line)) == ["misplaced-field"]


@pytest.mark.parametrize("words", ["yes", "true", "no", "False"])
def test_facts_about_the_caller_are_names_and_no_answers(words):
    assert errors(metadata(f"- **Requires Context**: {words}")) == ["unreadable-value"]


@pytest.mark.parametrize(
    "line",
    [
        "- **Enum**: a, b; **Sensitive**: yes",
        "- **Enum**: a, b\n  - **Sensitive**: yes",
        "- **Example**: a; **Max Length**: 5",
        "- **Description**: Which one, **Sensitive**: yes",
        "- **Unit**: kg\n  - **Sensitive**: yes",
    ],
)
def test_a_field_within_the_value_of_a_parameters_field_is_an_error(line):
    text = tool("weigh", f"### animal\n\n- **Type**: string\n{line}")
    assert errors(text) == ["misplaced-field"]


@pytest.mark.parametrize(
    "line",
    [
        "- Default = a",
        "- Max Length of 5",
        "- sensitive->yes",
    ],
)
def test_a_bullet_of_a_parameter_in_almost_the_right_form_is_an_error(line):
    text = tool("weigh", f"### animal\n\n- **Type**: string\n{line}")
    assert errors(text)


@pytest.mark.parametrize(
    "line",
    [
        "- Default values are kept",
        "- Values such as cow, pig",
        "- a == b is checked elsewhere",
        "- **Description**: See **Notes**: and `**Sensitive**: yes`",
    ],
)
def test_sentences_that_begin_with_a_fields_name_are_kept(line):
    assert errors(tool("weigh", f"### animal\n\n- **Type**: string\n{line}")) == []


def test_a_field_that_is_indented_as_code_is_an_error():
    text = tool(
        "weigh",
        "### animal\n\n- **Type**: object\n- **Properties**:\n    - **tag**:\n"
        "        - **Type**: string\n        - **Description**: Such as:\n\n  ```\n  ab\n  ```\n"
        "        - **Enum**: ab, cd\n",
    )
    assert errors(text) == ["misplaced-field"]


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_the_indentation_of_a_quote_is_no_part_of_a_description(indent):
    quote = f"- **Description**: Said:\n\n{indent}> It weighs\n{indent}> a ton."
    spec, _ = parse_tool(
        tool("weigh", f"### animal\n\n- **Type**: string\n{quote}"), "weigh.tool.md"
    )
    assert spec is not None
    assert spec.parameters[0].shape.description == "Said:\n\n> It weighs\n> a ton."


@pytest.mark.parametrize("key", ["Requires Context", "Read Only"])
def test_a_field_of_the_metadata_that_is_indented_as_code_is_an_error(key):
    assert errors(metadata(f"\n        - **{key}**: yes")) == ["misplaced-field"]


@pytest.mark.parametrize("line", ["- **Unit**: kg", "- **Default**: a", "- **Enum**: a, b"])
def test_a_field_of_a_parameter_that_is_indented_as_code_is_an_error(line):
    text = tool(
        "weigh", f"### animal\n\n- **Type**: string\n{line}\n\n        - **Sensitive**: yes"
    )
    assert errors(text) in (["misplaced-field"], ["unreadable-value"])
