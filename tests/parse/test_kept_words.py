"""Words around fields are kept in place, or reported if they can't be."""

import pytest

from toolmd._parse import format_text, parse_skill, parse_tool

TOOL = """\
# Forecast Rain

Tell how much rain will fall.

## Metadata

- **Name**: forecast_rain
- **Version**: 1.0.0
- **Category**: weather

## Parameters

### station

- **Type**: string
- **Required**: true

### span

- **Type**: object
- **Properties**:
  - **start**:
    - **Type**: string

## Returns

- **Type**: object
- **Description**: The rain

## Rules

- `size(station) == 3`: A station has three letters.

## Examples

### One day

```json
{"station": "ABC"}
```
"""


def put(behind: str, words: str) -> str:
    assert TOOL.count(behind) == 1
    return TOOL.replace(behind, f"{behind}{words}")


def read(text: str):
    spec, diagnostics = parse_tool(text, "forecast_rain.tool.md")
    assert spec is not None, [str(d) for d in diagnostics]
    again, _ = parse_tool(format_text(text, "forecast_rain.tool.md"), "forecast_rain.tool.md")
    assert again is not None
    assert again.hash == spec.hash
    return spec, diagnostics


@pytest.mark.parametrize("words", ["It rains often.", "> It rains often.", "- It rains often."])
def test_words_around_an_example_are_kept(words):
    spec, _ = read(put("### One day\n", f"\n{words}\n"))
    assert "It rains often." in spec.sections["Examples"]
    assert spec.examples[0].arguments == {"station": "ABC"}


def test_an_unreadable_example_is_kept_as_prose():
    spec, diagnostics = read(TOOL.replace('{"station": "ABC"}', "{station}"))
    assert [d.code for d in diagnostics] == ["invalid-example"]
    assert not spec.examples
    assert "{station}" in spec.sections["Examples"]


def test_the_whole_third_fence_of_an_example_is_reported():
    more = "\n```json\n3\n```\n\n```json\n4\n```\n"
    spec, (found,) = read(f"{TOOL}{more}")
    assert spec.examples[0].result == 3
    assert (found.code, found.span.line, found.span.end_line) == ("invalid-example", 46, 48)


def test_text_after_a_comment_is_kept():
    spec, _ = read(put("will fall.\n", "\n<!-- to do --> In millimetres.\n"))
    assert spec.notes == "In millimetres."


def test_a_comment_is_dropped_from_a_heading_and_kept_in_a_code_span():
    spec, _ = read(
        TOOL.replace("## Returns", "## Returns <!-- see below -->").replace(
            "The rain", "The rain as `<!-- mm -->`, <!-- in June --> a < b <!-- open"
        )
    )
    assert spec.returns.description == "The rain as `<!-- mm -->`,  a < b <!-- open"


def test_a_cell_after_the_last_column_is_kept_in_prose_and_an_error_in_parameters():
    table = "| a | b |\n|---|---|\n| c | d | e |\n"
    spec, _ = read(f"{TOOL}\n## Cost\n\n{table}")
    assert "| c | d | e |" in spec.sections["Cost"]
    table = "\n| name | type |\n|---|---|\n| city | string | Paris |\n"
    refused, diagnostics = parse_tool(put("## Parameters\n", table), "forecast_rain.tool.md")
    assert refused is None
    assert [(d.code, d.span.line, d.span.column) for d in diagnostics] == [("unread-line", 15, 19)]


def test_words_between_the_properties_of_an_object_are_kept():
    spec, _ = read(put("- **Properties**:\n", "\n  All in local time.\n\n"))
    assert spec.parameters[1].shape.description == "All in local time."


def test_the_properties_of_an_object_may_be_a_table():
    table = "  | name | type | required |\n  |---|---|---|\n  | end | string | yes |\n"
    spec, diagnostics = read(TOOL.replace("  - **start**:\n    - **Type**: string\n", f"\n{table}"))
    assert not diagnostics
    (end,) = spec.parameters[1].shape.properties or ()
    assert (end.name, end.required) == ("end", True)


def test_a_second_paragraph_of_a_rule_belongs_to_its_message():
    spec, _ = read(put("has three letters.\n", "\n  See the list.\n"))
    assert spec.rules[0].message == "A station has three letters. See the list."


def test_another_title_in_the_front_matter_is_kept():
    spec, diagnostics = read(f"---\ntitle: Rain\n---\n{TOOL}")
    assert [d.code for d in diagnostics] == ["unknown-field"]
    assert (spec.title, spec.extra) == ("Forecast Rain", {"title": "Rain"})


SKILL = """\
# Close Month

Close the month of the payroll.

## Metadata

- **Name**: close_month
- **Version**: 1.0.0
- **Category**: payroll
- **Required Tools**: sum_hours

## Workflow

{steps}

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""


@pytest.mark.parametrize(
    "steps",
    [
        "1. **Stop**: Nobody worked.\n   - at all",
        "1. **Sum**.\n   - **Use**: sum_hours\n     - of May",
        "1. **Sum**.\n   - **Use**: sum_hours\n\n     of May",
        "1. **Sum**.\n   - **Use**: sum_hours\n   - **Save as**: hours\n     - of May",
        "1. **Sum**.\n   - **Use**: sum_hours\n   - **With**:\n\n     of May",
        "1. **Sum**.\n   - **Use**: sum_hours\n   - **With**:\n     - month: May\n       - or June",
        "1. **Use**: sum_hours\n   - month: May",
        "1. **Return**:\n   - hours:\n     - one\n       - of May",
    ],
)
def test_text_that_a_step_does_not_read_is_an_error(steps):
    spec, diagnostics = parse_skill(SKILL.format(steps=steps), "close_month.skill.md")
    assert spec is None
    assert [d.code for d in diagnostics] == ["invalid-step"]


@pytest.mark.parametrize("word", ["Return", "Stop"])
def test_an_action_that_needs_no_words_may_have_none(word):
    alone, _ = parse_skill(SKILL.format(steps=f"1. **{word}**"), "close_month.skill.md")
    colon, _ = parse_skill(SKILL.format(steps=f"1. **{word}**:"), "close_month.skill.md")
    assert alone is not None
    assert colon is not None
    assert alone.hash == colon.hash
    assert alone.executable


def test_comments_are_kept_in_place_and_never_doubled():
    text = TOOL.replace("## Returns", "## Returns <!-- a -->").replace(
        "The rain", "The rain, as `<!-- b -->` shows"
    )
    text = text.replace("will fall.\n", "will fall.\n\n<!-- c --> More.\n")
    once = format_text(text, "forecast_rain.tool.md")
    assert once is not None
    assert format_text(once, "forecast_rain.tool.md") == once
    assert [once.count(f"<!-- {word} -->") for word in "abc"] == [1, 1, 1]


def test_comments_of_front_matter_are_kept_as_comments():
    front = (
        "---\n# The station asks.\nname: forecast_rain # not weather\n"
        'place: "a # b" # why -->\nnote: |\n  # words\n# at the end\n---\n'
    )
    once = format_text(front + TOOL, "forecast_rain.tool.md")
    assert once is not None
    assert format_text(once, "forecast_rain.tool.md") == once
    for words in ("The station asks.", "not weather", "why -- >", "at the end"):
        assert once.count(f"<!-- {words} -->") == 1
    assert once.count("<!--") == 4


@pytest.mark.parametrize("sign", ["- ", ""])
@pytest.mark.parametrize("key", ["**Error**:", "Error:", "**Error** \u2014"])
def test_an_error_of_an_example_needs_no_bullet(sign, key):
    spec, _ = read(f"{TOOL}\n{sign}{key} unknown_place\n")
    assert (spec.examples[0].error, spec.sections.get("Examples")) == ("unknown_place", None)


def test_labels_above_the_fences_of_an_example_are_not_prose():
    text = f'{TOOL}\n**Result**:\n\n```json\n{{"mm": 2}}\n```\n'
    spec, _ = read(text.replace("### One day\n", "### One day\n\nArguments:\n"))
    assert spec.examples[0].result == {"mm": 2}
    assert "Examples" not in spec.sections
