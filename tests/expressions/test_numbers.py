"""Whole and other numbers mix, and an expression that passes the check has a value for both."""

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


@pytest.mark.parametrize(
    "source",
    [
        "price * 2",
        "price * 2.0 > 5",
        "price + weight - count",
        "double(price) / 2 + 1",
        "price / 2.0",
        "count / 2 * price",
        "price > 5 && weight <= 2.5 || price == weight",
        "rows.sortBy(r, -r.low)",
        "rows.map(r, r.high - r.low).sum()",
        "rows.map(r, r.low) + [1]",
        "price > 2.0 ? price - 1 : 0",
        "math.ceil(price) + 0.5",
        "lists.range(int(price))",
        "math.greatest(price, weight, 1)",
        "math.abs(-price)",
        "text + string(price)",
        "price in [1, 2]",
    ],
)
def test_whole_and_other_numbers_mix(source: str) -> None:
    Checker(NAMES).check(source)
    program = compile_expression(source)
    for price, weight, low, high in itertools.product((2, 2.5), repeat=4):
        rows = [{"low": low, "high": high}, {"low": high, "high": low}]
        values = {"price": price, "weight": weight, "count": 3, "text": "abcd", "rows": rows}
        program.evaluate(values)


@pytest.mark.parametrize(
    ("source", "help_"),
    [
        ("price / 2", "double("),
        ("price / weight", "double("),
        ("price % 2", "int("),
        ("text.substring(price)", "int("),
        ("lists.range(price)", "int("),
    ],
)
def test_a_number_that_may_be_whole_or_not_is_an_error_if_that_decides(
    source: str, help_: str
) -> None:
    with pytest.raises(ExpressionError, match="does not take") as error:
        Checker(NAMES).check(source)
    assert help_ in error.value.help


def test_integers_are_exact() -> None:
    most = compile_expression("x + 1").evaluate({"x": 2**63 - 2})
    assert most == 2**63 - 1
    assert compile_expression("x < 9007199254740992.0").evaluate({"x": 2**53 - 1})
    assert compile_expression("x == 9007199254740992.0").evaluate({"x": 2**53 + 1}) is False
    assert compile_expression("[x / 2, x % 2, -x / 2, -x % 2]").evaluate({"x": 7}) == [3, 1, -3, -1]


def test_whole_and_other_numbers_are_sorted_together() -> None:
    rows = [{"id": 1, "low": 31.5}, {"id": 2, "low": 24}, {"id": 3, "low": 40}]
    program = compile_expression("rows.sortBy(r, -r.low)")
    assert program.evaluate({"rows": rows}) == [rows[2], rows[0], rows[1]]
    assert compile_expression("rows.sortBy(r, r.low).first()").evaluate({"rows": rows}) == rows[1]


@pytest.mark.parametrize("values", [[1, "a"], [None, 1], [True, 1]])
def test_values_that_have_no_common_order_are_not_sorted(values: list[object]) -> None:
    with pytest.raises(EvaluationError, match="several types"):
        compile_expression("values.sortBy(v, v)").evaluate({"values": values})
