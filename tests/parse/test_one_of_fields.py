"""One Of is read as named object shapes, written back, and its mistakes are reported."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._load.cache import decode, decode_call_spec, encode, hash_of
from toolmd._parse import format_text, parse_skill, parse_tool

TOOL = """\
# Pay

Pay a bill.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: shop

## Parameters

### payment

{fields}

## Returns

- **Type**: null
"""
SHAPES = """\
- **Type**: object
- **Required**: true
- **Description**: How the bill is paid
- **One Of**:
  - **card**: A credit card
    - **Properties**:
      - **kind** (string, required)
      - **card_id** (string, required): The number
  - **iban**:
    - **Properties**:
      - **kind** (string, required)
      - **iban** (string, required)
- **Discriminator**: kind
"""


def tool(fields: str):
    spec, diagnostics = parse_tool(TOOL.format(fields=fields), "pay.tool.md")
    assert spec is not None, [str(d) for d in diagnostics]
    assert not diagnostics
    return spec


def payment(fields: str):
    return tool(fields).input_schema["properties"]["payment"]


def errors(fields: str) -> list[tuple[str, str]]:
    spec, found = parse_tool(TOOL.format(fields=fields), "pay.tool.md")
    assert spec is None
    assert all(d.help for d in found)
    return [(d.code, d.message) for d in found if d.severity == "error"]


def test_one_of_is_json_schemas_one_of_with_a_title_for_each_shape() -> None:
    card = {"kind": {"type": "string", "enum": ["card"]}}
    card["card_id"] = {"type": "string", "description": "The number"}
    iban = {"kind": {"type": "string", "enum": ["iban"]}, "iban": {"type": "string"}}
    shape = {"type": "object", "additionalProperties": False}

    assert payment(SHAPES) == {
        "type": "object",
        "description": "How the bill is paid",
        "oneOf": [
            {
                "title": "card",
                "description": "A credit card",
                "properties": card,
                "required": ["kind", "card_id"],
                **shape,
            },
            {"title": "iban", "properties": iban, "required": ["kind", "iban"], **shape},
        ],
        "discriminator": {"propertyName": "kind"},
    }


WAYS = [
    SHAPES.replace("- **One Of**:", "- oneOf:").replace("**Discriminator**", "discriminator"),
    SHAPES.replace("- **Type**: object\n", ""),
    SHAPES.replace("(string, required)\n", "(string, required, enum: `iban`)\n", 3)
    .replace("- **kind** (string, required, enum: `iban`)", "- kind (string, required)", 1)
    .replace("- **iban** (string, required, enum: `iban`)", "- **iban** (string, required)"),
    SHAPES.replace("    - **Properties**:\n", "").replace("      - **", "    - **"),
    SHAPES.replace("  - **iban**:\n", "  - **iban** (object):\n"),
    SHAPES.replace(
        """  - **iban**:
    - **Properties**:
      - **kind** (string, required)
      - **iban** (string, required)
""",
        "  - **iban**: { kind: string, iban: string }\n",
    ),
]


@pytest.mark.parametrize("fields", WAYS)
def test_other_ways_to_write_one_of_mean_the_same(fields: str) -> None:
    assert tool(fields).hash == tool(SHAPES).hash


def test_a_shapes_own_enum_is_its_value_of_the_discriminator() -> None:
    told = SHAPES.replace("**kind** (string, required)", "**kind** (integer, required, enum: 1)", 1)
    told = told.replace("**kind** (string, required)", "**kind** (integer, required, enum: 2)", 1)
    card, iban = payment(told)["oneOf"]

    assert card["properties"]["kind"] == {"type": "integer", "enum": [1]}
    assert iban["properties"]["kind"] == {"type": "integer", "enum": [2]}


@pytest.mark.parametrize(
    "text",
    [
        TOOL.format(fields=SHAPES),
        TOOL.format(fields=SHAPES.replace("- **Discriminator**: kind\n", "")),
        TOOL.format(fields="- **Type**: array\n- **Items**:\n  " + SHAPES.replace("\n", "\n  ")),
        TOOL.format(fields="- **Properties**:\n  - **by**:\n    " + SHAPES.replace("\n", "\n    ")),
        TOOL.format(fields=SHAPES.replace("object\n", "object | null\n", 1)),
        TOOL.format(fields=SHAPES + '- **Default**: `{"kind": "iban", "iban": "D"}`\n'),
        TOOL.format(fields="- **Type**: string").replace("- **Type**: null\n", SHAPES)
        .replace("- **Required**: true\n", ""),
        TOOL.format(
            fields="- **One Of**:\n  - **a**:\n    - **Properties**: None\n"
            "  - **b**:\n    - x: integer\n    - **Properties**: None"
        ).replace("\n    - **Properties**: None\n\n", "\n\n"),
    ],
)  # fmt: skip
def test_one_of_survives_formatting_and_the_cache(text: str) -> None:
    spec, found = parse_tool(text.replace("    - **Required**: true\n", ""), "pay.tool.md")
    assert spec is not None, [str(d) for d in found]
    formatted = format_text(text, "pay.tool.md")
    assert formatted is not None
    assert "One Of" in formatted
    again, _ = parse_tool(formatted, "pay.tool.md")
    assert again is not None
    assert format_text(formatted, "pay.tool.md") == formatted
    encoded = encode(spec)
    assert decode("tool", encoded) == spec
    call_spec = decode_call_spec(encoded)
    assert (call_spec.parameters, call_spec.returns) == (spec.parameters, spec.returns)
    assert hash_of(call_spec, encoded) == spec.hash


def test_the_formatted_text_has_the_same_hash() -> None:
    text = TOOL.format(fields=SHAPES)
    again, _ = parse_tool(format_text(text, "pay.tool.md") or "", "pay.tool.md")

    assert again is not None
    assert again.hash == tool(SHAPES).hash


@pytest.mark.parametrize("values", [": a, b", ":\n  - a\n  - b", ": `a` | `b`"])
def test_one_of_plain_values_is_an_enum(values: str) -> None:
    assert payment(f"- **One Of**{values}") == {"type": "string", "enum": ["a", "b"]}


def test_a_skills_input_may_be_one_of_several_shapes() -> None:
    text = (
        "# Order\n\nOrder a thing.\n\n## Metadata\n\n- **Name**: order\n- **Version**: 1.0.0\n"
        "- **Category**: shop\n\n## Workflow\n\n1. **Stop**: No.\n\n## Input Schema\n\n"
        f"### payment\n\n{SHAPES}\n## Output Schema\n\n- **Type**: object\n"
    )
    spec, found = parse_skill(text, "order.skill.md")

    assert spec is not None, [str(d) for d in found]
    assert len(spec.input_schema["properties"]["payment"]["oneOf"]) == 2


ONE = "- **One Of**:\n  - **a**:\n    - x (string, required)\n"
TWO = ONE + "  - **b**:\n    - y (string, required)\n"
MISTAKES = {
    "one shape": (ONE, "has one shape"),
    "no shape": ("- **Type**: object\n- **One Of**:\n- **Discriminator**: x", "has no shapes"),
    "a shape twice": (TWO + "  - **a**:\n    - z: string\n", "two shapes 'a'"),
    "a shape without fields": (TWO + "  - **c**: Nothing more\n", "'c' of parameter"),
    "an unknown field": (TWO + "    - **Colour**: red\n", "'Colour' is not a field of the shape"),
    "a field of parameters": (TWO + "    - **Required**: yes\n", "'Required' is not a field"),
    "a restriction": (TWO + "    - **Sensitive**: yes\n", "'Sensitive' is not a field"),
    "shapes within a shape": (
        TWO.replace("    - x (", "    - **One Of**:\n      - **c**: { x: string }\n    - x ("),
        "'One Of' is not a field",
    ),
    "another type": ("- **Type**: string\n" + TWO, "does not fit parameter 'payment'"),
    "an array": ("- **Type**: array\n" + TWO, "does not fit parameter 'payment'"),
    "a shape of another type": (TWO + "    - **Type**: array\n", "is array, not an object"),
    "properties": (TWO + "- **Properties**:\n  - z: string\n", "has One Of and Properties"),
    "fields below": (TWO + "- z (string): More\n", "has One Of and fields of its own"),
    "a map": ("- **Type**: dict[string, string]\n" + TWO, "has One Of and fields of its own"),
    "an enum": (TWO + "- **Enum**: a, b\n", "has One Of and Enum"),
    "a discriminator alone": ("- **Type**: object\n- **Discriminator**: x", "but no One Of"),
    "an unknown discriminator": (TWO + "- **Discriminator**: z", "has no such field"),
    "an optional discriminator": (
        TWO.replace("y (string, required)", "x (string)") + "- **Discriminator**: x",
        "does not require it",
    ),
    "a discriminator without a value": (
        TWO.replace("y (string, required)", "x (integer, required)") + "- **Discriminator**: x",
        "has no fixed value",
    ),
    "a discriminator of several values": (
        TWO.replace("y (string, required)", "x (string, required, enum: c | d)")
        + "- **Discriminator**: x",
        "has several values",
    ),
    "a value of two shapes": (
        TWO.replace("y (string, required)", "x (string, required, enum: a)")
        + "- **Discriminator**: x",
        "'a' and 'b' of parameter 'payment' have one value",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_one_of_is_an_error_with_a_remedy(name: str) -> None:
    fields, words = MISTAKES[name]
    found = errors(fields)

    assert any(words in message for _, message in found), found
    assert {code for code, _ in found} == {"invalid-one-of"}


def test_a_misspelt_one_of_is_repaired_with_a_warning() -> None:
    text = SHAPES.replace("One Of", "One Off").replace("Discriminator", "Discriminater")
    spec, found = parse_tool(TOOL.format(fields=text), "pay.tool.md")

    assert spec is not None
    assert spec.hash == tool(SHAPES).hash
    assert [d.code for d in found] == ["misspelt-field"] * 2


@pytest.mark.parametrize("name", ["42", "a/b", "é", "Ω", "x" * 65, "constructor!"])
def test_an_odd_name_of_a_shape_is_an_error(name: str) -> None:
    fields = SHAPES.replace("**iban**:\n", f"**{name}**:\n", 1)

    assert "invalid-name" in {code for code, _ in errors(fields)}


def nested(levels: int) -> str:
    lines = []
    for level in range(levels):
        left = "    " * (2 * level)
        lines += [
            f"{left}- **One Of**:",
            f"{left}  - **a**:",
            f"{left}    - **Properties**:",
            f"{left}      - **x**:",
        ]
    left = "    " * (2 * levels)
    lines.append(f"{left}- **Type**: string")
    for level in reversed(range(levels)):
        left = "    " * (2 * level)
        lines += [f"{left}  - **b**:", f"{left}    - **y** (string)"]
    return "\n".join(lines)


def test_shapes_nest_sixteen_deep_and_survive_formatting() -> None:
    text = TOOL.format(fields=nested(16))
    spec, found = parse_tool(text, "pay.tool.md")
    assert spec is not None, [str(d) for d in found]
    again, _ = parse_tool(format_text(text, "pay.tool.md") or "", "pay.tool.md")

    assert again is not None
    assert again.hash == spec.hash
    assert json.dumps(spec.input_schema).count("oneOf") == 16


def test_shapes_that_nest_deeper_are_an_error() -> None:
    assert "nested-too-deep" in {code for code, _ in errors(nested(17))}


def test_ten_thousand_shapes_are_an_error() -> None:
    shapes = "".join(f"  - s{n}: {{x: string}}\n" for n in range(2_000))

    assert "too-many" in {code for code, _ in errors("- **One Of**:\n" + shapes)}


LINES = SHAPES.splitlines()


@given(st.lists(st.integers(0, len(LINES) - 1), max_size=8), st.sampled_from([0, 2, 4, 6]))
def test_no_line_of_a_torn_one_of_is_lost_in_silence(dropped: list[int], indent: int) -> None:
    kept = [line for number, line in enumerate(LINES) if number not in dropped]
    kept = [" " * indent + line.lstrip() if n in dropped else line for n, line in enumerate(kept)]
    spec, found = parse_tool(TOOL.format(fields="\n".join(kept)), "pay.tool.md")
    said = (spec.model_dump_json() if spec else "") + " ".join(map(str, found))

    assert spec is None or "card" not in "".join(kept) or "card" in said
