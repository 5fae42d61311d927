"""Every package derives what it knows of a keyword from the keyword's row."""

from typing import Any, NamedTuple

import pytest

from toolmd._dialect import system_prompt
from toolmd._export.function import in_words
from toolmd._import.json_schema import SchemaReader
from toolmd._load.weakening import comparisons
from toolmd._parse import parse_tool, tool_text
from toolmd._parse.fields.table import UNSUPPORTED
from toolmd._parse.words import fold
from toolmd._types.field import JsonType
from toolmd._types.schema import JSON_TYPES, KEYWORDS, UPPER, Parameter, Schema, words_of
from toolmd._types.tool import ToolSpec
from toolmd._validation import fits, is_bounded, limits_of, problems, sample

TOOL = """# shop

Sells flowers.

## Metadata

- **Version**: 1.0.0
- **Category**: shop

## Parameters

### value

- **Type**: {type}
- **Required**: true
- **{name}**: {text}

## Returns

- **Type**: null
"""


class Case(NamedTuple):
    """A keyword's value, a value that it allows, and one that it does not."""

    type: JsonType
    text: str
    value: Any
    good: Any
    bad: Any = None


SHAPES = """kind
- **One Of**:
  - **card**:
    - **kind** (string, required)
  - **cash**:
    - **kind** (string, required)"""
CASES = {
    "from_caller": Case("string", "`caller.customer`", "customer", "a"),
    "discriminator": Case("object", SHAPES, "kind", {"kind": "cash"}),
    "minimum": Case("integer", "3", 3, 3, 2),
    "maximum": Case("number", "0.5", 0.5, 0.5, 0.75),
    "min_length": Case("string", "2", 2, "ab", "a"),
    "max_length": Case("string", "2", 2, "ab", "abc"),
    "pattern": Case("string", "`[a-z]+`", "[a-z]+", "ab", "A"),
    "format": Case("string", "date", "date", "2026-03-05", "2026-02-30"),
    "min_items": Case("array", "2", 2, [1, 2], [1]),
    "max_items": Case("array", "2", 2, [1, 2], [1, 2, 3]),
    "unique": Case("array", "true", True, [1, 2], [1, 1]),
    "unit": Case("number", "ml", "ml", 1),
    "example": Case("string", "rose", "rose", "rose"),
    "sensitive": Case("string", "true", True, "a"),
    "verbatim": Case("string", "true", True, "a"),
    "sent_in": Case("string", "header X-Trace", "header X-Trace", "a"),
    "accepts_handle": Case("array", "true", True, [1]),
    "to_model": Case("object", "id, name", ("id", "name"), {"id": 1}),
}
WORDS: dict[str, tuple[list[str], str]] = {
    "from_caller": ([], "Without it: the caller's customer."),
    "discriminator": (["told apart by kind"], ""),
    "minimum": (["at least 3"], "At least 3."),
    "maximum": (["at most 0.5"], "At most 0.5."),
    "min_length": (["at least 2 characters"], "At least 2 characters."),
    "max_length": (["at most 2 characters"], "At most 2 characters."),
    "pattern": (["pattern [a-z]+"], "Must match [a-z]+."),
    "format": (["format date"], "Format: date."),
    "min_items": (["at least 2 items"], "At least 2 items."),
    "max_items": (["at most 2 items"], "At most 2 items."),
    "unique": (["no item twice"], "Each item only once."),
    "unit": (["in ml"], "Unit: ml."),
    "example": ([], ""),
    "sensitive": (["hidden in records"], ""),
    "verbatim": (["in the user's own words"], "Must be the user's own words."),
    "sent_in": ([], ""),
    "accepts_handle": (
        ["or a handle"],
        'Or part of an earlier result: {"$result": handle, "path": "papers[*].id"}.',
    ),
    "to_model": ([], ""),
}
"""The phrases of a keyword, and its sentence; empty where no export needs one."""
OF_A_RESULT = {"to_model"}
"""The keywords of a tool's result; the others are of its parameters."""
UNSAMPLED = {"min_length", "max_length", "pattern"}
"""A sample ignores patterns and lengths."""
RESTRICTING = sorted(name for name, row in KEYWORDS.items() if row.fits)


def tool(name: str) -> ToolSpec:
    case = CASES[name]
    text = TOOL.format(type=case.type, name=KEYWORDS[name].name, text=case.text)
    if name in OF_A_RESULT:
        line = f"- **{KEYWORDS[name].name}**: {case.text}\n"
        text = text.replace(line, "").replace("- **Type**: null\n", f"- **Type**: object\n{line}")
    spec, found = parse_tool(text, "shop.tool.md")
    assert spec is not None, found
    return spec


def shape_of(name: str) -> Schema:
    spec = tool(name)
    return spec.returns if name in OF_A_RESULT else spec.parameters[0].shape


def test_every_keyword_has_a_case() -> None:
    assert CASES.keys() == KEYWORDS.keys()


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_supported_keyword_is_not_reported_as_unsupported(name: str) -> None:
    row = KEYWORDS[name]

    assert not {*map(fold, (name, row.name, row.word))} & UNSUPPORTED


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_keyword_is_read_from_markdown_and_written_back(name: str) -> None:
    spec = tool(name)

    assert getattr(shape_of(name), name) == CASES[name].value
    again, _ = parse_tool(tool_text(spec), "shop.tool.md")
    assert again is not None
    assert again.canonical == spec.canonical


@pytest.mark.parametrize("name", RESTRICTING)
def test_a_keyword_is_validated_and_explained(name: str) -> None:
    shape, case = shape_of(name), CASES[name]

    assert is_bounded(shape)
    assert fits(shape)(case.good)
    assert problems(case.good, shape) == ()
    assert not fits(shape)(case.bad)
    assert len(problems(case.bad, shape)) == 1


@pytest.mark.parametrize("name", RESTRICTING)
def test_a_keyword_of_another_type_is_an_error_and_restricts_nothing(name: str) -> None:
    other = next(kind for kind in JSON_TYPES if kind not in KEYWORDS[name].fits)
    text = TOOL.format(type=other, name=KEYWORDS[name].name, text=CASES[name].text)
    _, found = parse_tool(text, "shop.tool.md")
    elsewhere = Schema(**{name: CASES[name].value})
    value = {"boolean": True, "number": 0.5, "string": "a"}[other]

    assert "field-mismatch" in [one.code for one in found]
    assert fits(elsewhere)(value)
    assert problems(value, elsewhere) == ()


@pytest.mark.parametrize("name", [*RESTRICTING, "sensitive", "verbatim"])
def test_a_removed_keyword_is_weaker_and_an_added_one_is_not(name: str) -> None:
    was, without = CASES[name].value, getattr(Schema(), name)

    is_weaker = comparisons(Schema)[name]
    assert is_weaker(was, without)
    assert not is_weaker(without, was)
    assert not is_weaker(was, was)


def test_the_words_that_restrict_a_type_are_those_of_its_keywords() -> None:
    assert words_of("array") == ("minItems", "maxItems", "uniqueItems")
    assert words_of("string") == ("minLength", "maxLength", "pattern", "format")
    assert words_of("boolean") == ()


# JSON Schema searches for a pattern; the export adds the anchors.
@pytest.mark.parametrize("name", sorted({*KEYWORDS} - {"pattern"}))
def test_a_keyword_is_written_as_json_schema_and_imported_back(name: str) -> None:
    shape = shape_of(name)
    lost: list[str] = []
    reader = SchemaReader({}, lambda _, what: lost.append(what))

    assert KEYWORDS[name].word in shape.json_schema
    assert reader.result(shape.json_schema) == shape
    assert lost == []


@pytest.mark.parametrize("name", RESTRICTING)
def test_a_keyword_is_shown_in_the_prompt(name: str) -> None:
    spec, case, row = tool(name), CASES[name], KEYWORDS[name]
    shown = "" if case.value is True else str(case.value)
    prompt = system_prompt([spec], "inline").split("`value` (", 1)[1]

    assert f"{case.type}, required)" in prompt
    assert shown in prompt
    assert shown in in_words(row.word, case.value)


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_keyword_is_a_phrase_and_a_sentence(name: str) -> None:
    value, (phrases, sentence) = CASES[name].value, WORDS[name]

    assert list(limits_of(Schema(**{name: value}))) == phrases
    assert not sentence or in_words(KEYWORDS[name].word, value) == sentence


@pytest.mark.parametrize("name", sorted({*KEYWORDS} - UNSAMPLED))
def test_a_sample_fits_a_keyword(name: str) -> None:
    shape = shape_of(name)

    assert problems(sample(shape), shape) == ()


@pytest.mark.parametrize("low", UPPER)
def test_a_lower_bound_above_its_upper_bound_is_an_error(low: str) -> None:
    row, most = KEYWORDS[low], KEYWORDS[UPPER[low]].name
    text = TOOL.format(type=row.fits[0], name=row.name, text=f"5\n- **{most}**: 4")
    _, found = parse_tool(text, "shop.tool.md")

    assert [one.code for one in found if one.severity == "error"] == ["invalid-range"]


def test_a_parameter_without_a_type_takes_the_type_of_its_bound() -> None:
    text = TOOL.replace("- **Type**: {type}\n", "", 1)
    for name, kind in (("min_items", "array"), ("maximum", "number"), ("min_length", "string")):
        spec, _ = parse_tool(text.format(name=KEYWORDS[name].name, text="1"), "shop.tool.md")
        assert spec is not None
        assert spec.parameters == (
            Parameter("value", Schema(types=(kind,), **{name: 1}), required=True),
        )
