"""An expression that passes the check has a value for whole numbers and for others."""

import itertools

import pytest

from toolmd._expressions import Checker, EvaluationError, ExpressionError, compile_expression
from toolmd._types.schema import Parameter, Schema

NUMBER = Schema(types=("number",))
ROW = Schema(
    types=("object",), properties=(Parameter("low", NUMBER, True), Parameter("high", NUMBER, True))
)
NAMES = {
    "price": NUMBER,
    "weight": NUMBER,
    "count": Schema(types=("integer",)),
    "text": Schema(types=("string",)),
    "rows": Schema(types=("array",), items=ROW),
}
BROKEN = [
    "price * 2",
    "price * 2.0 > 5.0",
    "price + weight",
    "price - count",
    "double(count) * price",
    "price % 2",
    "rows.map(r, r.low + 1.0)",
    "rows.map(r, r.high - r.low)",
    "price > 2.0 ? price - 1 : 0",
    "math.ceil(price)",
    "text.substring(price)",
    "lists.range(price)",
]
SOUND = [
    "double(price) * 2.0",
    "double(price) + double(weight)",
    "price * price",
    "price > 5 && weight <= 2.5 || price == weight",
    "rows.sortBy(r, -r.low)",
    "rows.map(r, r.low).sort()",
    "rows.map(r, double(r.high) - double(r.low))",
    "rows.map(r, r.low) + [1]",
    "price > 2.0 ? price : 0",
    "math.ceil(double(price)) + 0.5",
    "lists.range(int(price))",
    "math.greatest(price, weight)",
    "text + string(price)",
    "price in [1, 2]",
]


@pytest.mark.parametrize("source", BROKEN)
def test_an_expression_that_fails_for_a_form_of_a_number_is_an_error(source):
    with pytest.raises(ExpressionError, match="may be whole or not") as error:
        Checker(NAMES, functions=True).check(source)
    assert "double(" in error.value.help


@pytest.mark.parametrize("source", SOUND)
def test_an_expression_for_every_form_of_a_number_passes_and_has_a_value(source):
    Checker(NAMES, functions=True).check(source)
    program = compile_expression(source)
    for price, weight, low, high in itertools.product((2, 2.5), repeat=4):
        rows = [{"low": low, "high": high}, {"low": high, "high": low}]
        program.evaluate(
            {"price": price, "weight": weight, "count": 3, "text": "abcd", "rows": rows}
        )


def test_whole_and_other_numbers_are_sorted_together():
    rows = [{"id": 1, "low": 31.5}, {"id": 2, "low": 24}, {"id": 3, "low": 40}]
    program = compile_expression("rows.sortBy(r, -r.low)")
    assert program.evaluate({"rows": rows}) == [rows[2], rows[0], rows[1]]
    first = compile_expression("rows.sortBy(r, r.low).first()").evaluate({"rows": rows})
    assert first == rows[1]
    assert type(first["id"]) is int


@pytest.mark.parametrize("values", [[1, "a"], [1.5, 2**53 + 1]])
def test_values_that_have_no_common_order_are_not_sorted(values):
    with pytest.raises(EvaluationError, match="several types"):
        compile_expression("values.sort()").evaluate({"values": values})
