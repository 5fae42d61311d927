"""Words that are no part of an expression are named, with what to write."""

import pytest

from toolmd import parse_tool
from toolmd._expressions import ExpressionError, compile_expression

TOOL = """\
# Pay

Pay somebody.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: money

## Parameters

### amount

- **Type**: number
- **Required**: true
- **Description**: How much

## Returns

- **Type**: object
- **Description**: The receipt

"""
UNITS = ["50 EUR", "50EUR", "$50", "€ 50", "50 kg", "50%", "50 percent", "50 mg/kg"]
PLACES = ["## Safety\n\n- **Confirm When**: `{}`\n", "## Rules\n\n- `{}`: Too much.\n"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("amount", UNITS)
def test_a_unit_next_to_a_number_is_named_and_removed(place, amount) -> None:
    spec, (found,) = parse_tool(TOOL + place.format(f"amount > {amount}"), "pay.tool.md")
    assert spec is None
    assert found.code == "invalid-expression"
    unit = amount.replace("50", "").strip()
    assert f"'{unit}' beside 50 is no part of an expression" in found.message
    assert found.help == "units are not part of an expression: write `amount > 50`"
    line = (TOOL + place.format(f"amount > {amount}")).split("\n")[found.line - 1]
    assert line[found.column - 1 :].startswith(unit)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("over 200 EUR", "amount > 200"),
        ("amount over 200", "amount > 200"),
        ("more than €200", "amount > 200"),
        ("amount is more than 200 EUR", "amount > 200"),
        ("if amount under 3", "amount < 3"),
        ("at least 5", "amount >= 5"),
        ("amount at most 3 EUR", "amount <= 3"),
        ("no more than 5", "amount <= 5"),
        ("exceeds 20", "amount > 20"),
        ("the amount is above 50", "amount > 50"),
        ("over 50 und below 90 EUR", "amount > 50 && amount < 90"),
        ("below 3.5", "amount < 3.5"),
        ("amount greater than or equal to 5", "amount >= 5"),
        ("over 5 and below 9", "amount > 5 && amount < 9"),
        ("amount > 1 or amount below 0", "amount > 1 || amount < 0"),
    ],
)
def test_a_comparison_in_words_gets_the_expression_with_the_parameters_name(
    place, words, written
) -> None:
    spec, (found,) = parse_tool(TOOL + place.format(words), "pay.tool.md")
    assert spec is None
    assert found.code == "invalid-expression"
    assert "is no operator" in found.message
    assert found.help == f"write `{written}`"
    spec, diagnostics = parse_tool(TOOL + place.format(written), "pay.tool.md")
    assert spec is not None, diagnostics


def test_a_comparison_in_words_without_its_subject_names_that_there_are_several_numbers() -> None:
    fee = "### fee\n\n- **Type**: number\n- **Required**: true\n- **Description**: The fee\n"
    text = TOOL.replace("## Returns", f"{fee}\n## Returns")
    _, (found,) = parse_tool(text + PLACES[0].format("over 200"), "pay.tool.md")
    assert found.help == "write `amount > 200`, with the name of the parameter that you mean"


@pytest.mark.parametrize(
    ("source", "message", "help_"),
    [
        ("a > 1 and b > 2", "'and' is no operator", "write `&&`"),
        ("not a", "'not' is no operator", "write `!`"),
        ("a > 1,000", "a comma is no part of a number", "write `1000` for `1,000`"),
        ("a > 0,5", "a comma is no part of a number", "write `0.5` for `0,5`"),
        ("a > 50 und b == c", "'und' is no operator", "write `&&`"),
        ("a > 50 oder b == c", "'oder' is no operator", "write `||`"),
        ("a > 50 mg && b == c", "'mg' beside 50", "write `a > 50 && b == c`"),
        ("a > 50 mg und b == c", "'mg' beside 50", "remove `mg`"),
        ("a > 50 route = iv", "'route' stands directly behind '50'", "write an operator between"),
        ("a == “iv”", "'“' is not a quotation mark", 'write `"` before and after text'),
        ("a = 'iv'", "'=' is no operator", "write `==`"),
        ("a => 5", "'=>' is no operator", "write `>=`"),
        ("a above 50 urgent", "'above' is no operator", "write `>` for it, between two values"),
        ("this a is above 50", "'above' is no operator", "write `>` for it, between two values"),
        ("a == b c", "'c' stands directly behind 'b'", "write an operator between them"),
        ("a > 5)", "not understood at ')'", ""),
        ("a >", "the expression ends too early", ""),
    ],
)
def test_other_extra_words_are_named_too(source, message, help_) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_expression(source)
    assert message in raised.value.message
    assert help_ in raised.value.help
