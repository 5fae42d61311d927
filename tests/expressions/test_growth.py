"""No expression takes more than its budget, whatever its author wrote and its caller sends."""

import time
import tracemalloc
from typing import Any

import pytest

from toolmd._expressions import Checker, EvaluationError, ExpressionError, compile_expression

DIGITS = "'0123456789'"


def nested(around: str, levels: int, inside: str = DIGITS) -> str:
    """Put an expression into itself: `@` is the one inside, `#` the number of the level."""
    for level in range(levels):
        inside = around.replace("#", str(level)).replace("@", inside)
    return inside


MANY = f"[{', '.join(['v#'] * 40)}].join('')"
BOMBS = {
    "a text is doubled": nested("[@].map(v#, v# + v#)[0]", 28),
    "a list is doubled": nested("[@].map(v#, v# + v#)[0]", 26, "[1, 2, 3]"),
    "a list holds itself twice": nested("[@].map(v#, [v#, v#])", 26, "1"),
    "an object holds itself twice": nested("[@].map(v#, {'a': v#, 'b': v#})[0]", 26, "1"),
    "lists that hold themselves are compared": nested("[@].map(v#, [v#, v#])[0]", 9, "1")
    + f".map(a, {nested('[@].map(v#, [v#, v#])[0]', 25, 'a')} == 0 || true)",
    "lists that hold themselves are distinct": f"[{nested('[@].map(v#, [v#, v#])[0]', 20, '1')}]"
    ".distinct()",
    "each letter is replaced by many": "'a'" + ".replace('a', 'aaaaaaaaaaaaaaaa')" * 9,
    "each letter is joined by many": nested("@.split('').join('0123456789ABCDEF')", 8),
    "a loop over one item names it": nested(f"[@].map(v#, {MANY})[0]", 5),
    "a loop makes one text of many": nested("lists.range(1000).map(i, @).join('')", 4),
    "loops in loops": nested("lists.range(9).map(i#, @)", 12, "1"),
    "loops in loops that make nothing": nested("lists.range(999).all(i#, @)", 9, "true"),
    "a list is made of each letter": nested("[@].map(v#, v# + v#)[0]", 22) + ".split('')",
    "a long text is searched often": nested("[@].map(v#, v# + v#)[0]", 19)
    + ".split('012345678901234').map(t, lists.range(1000).exists(i, t.contains('x')))",
}
SLOW_S = 3.0
"""Some ten times what the slowest takes on a machine that does nothing else."""


@pytest.mark.parametrize("what", BOMBS)
def test_an_expression_that_must_take_too_much_is_an_error_of_the_check(what: str) -> None:
    for read in (compile_expression, Checker({}).check):
        began = time.process_time()
        with pytest.raises(ExpressionError) as refused:
            read(BOMBS[what])
        assert time.process_time() - began < SLOW_S
        if "nested too deeply" not in refused.value.message:
            assert "too many steps" in refused.value.message or "MiB" in refused.value.message
            assert "compute it in a tool" in refused.value.help


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("a.replace('a', b)", {"a": "a" * 20_000, "b": "b" * 20_000}),
        ("xs.join(a)", {"xs": ["x"] * 50_000, "a": "b" * 20_000}),
        ("a + a + a + a + a", {"a": "a" * 40_000_000}),
        ("a.split('')", {"a": "a" * 4_000_000}),
        ("xs.map(x, a).sortBy(x, x)", {"xs": [0] * 9000, "a": "a" * 5_000_000}),
        ("xs.map(x, xs)", {"xs": list(range(5000))}),
    ],
)
def test_an_expression_that_would_grow_too_large_is_stopped(
    source: str, values: dict[str, Any]
) -> None:
    program = compile_expression(source)
    tracemalloc.start()
    with pytest.raises(EvaluationError, match=r"too many steps|over 64 MiB|too large"):
        program.evaluate(values)
    assert tracemalloc.get_traced_memory()[1] < 200 << 20
    tracemalloc.stop()
    # A little of the same is nothing odd.
    program.evaluate({name: value[:20] for name, value in values.items()})


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("xs.all(x, xs.all(y, x + y >= 0))", {"xs": list(range(9000))}),
        ("xs.all(x, xs.sortBy(y, y).size() > 0)", {"xs": list(range(9000))}),
        ("xs.all(x, a.contains('b') || true)", {"xs": [0] * 9000, "a": "a" * 5_000_000}),
        ("xs.all(x, a.matches('b$') || true)", {"xs": [0] * 9000, "a": "a" * 5_000_000}),
        ("xs.all(x, a == b)", {"xs": [0] * 9000, "a": "a" * 5_000_000, "b": "a" * 5_000_000}),
        ("xs.all(x, x in xs)", {"xs": list(range(50_000))}),
    ],
)
def test_an_expression_that_would_take_too_long_is_stopped(
    source: str, values: dict[str, Any]
) -> None:
    program = compile_expression(source)
    began = time.process_time()
    with pytest.raises(EvaluationError, match=r"too many steps|over 64 MiB|too large"):
        program.evaluate(values)
    assert time.process_time() - began < SLOW_S
    program.evaluate({name: value[:20] for name, value in values.items()})


ROWS = [{"name": f"row {n}", "n": n, "tags": ["a", "b"]} for n in range(1000)]


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("rows.filter(r, r.n > 10).map(r, r.name).join(', ').size() > 0", {"rows": ROWS}),
        ("rows.sortBy(r, r.n).first().name", {"rows": ROWS}),
        ("rows.all(r, r.tags.exists(t, t == 'a'))", {"rows": ROWS}),
        ("rows.map(r, r.tags).flatten().distinct()", {"rows": ROWS}),
        ("xs.exists(x, x == 3)", {"xs": list(range(9000))}),
        ("xs.filter(x, x > 0).map(x, x * 2).sum()", {"xs": list(range(15_000))}),
        ("a.size() < 10000000", {"a": "a" * 5_000_000}),
        ("a.matches('^a+$') && a.replace('a', 'b').startsWith('b')", {"a": "a" * 300_000}),
        ("a.split(' ').map(w, w.upperAscii()).join(' ')", {"a": "some words " * 100}),
        ("lists.range(31).map(d, lists.range(24).map(h, d * 24 + h))", {}),
    ],
)
def test_ordinary_expressions_are_evaluated(source: str, values: dict[str, Any]) -> None:
    compile_expression(source).evaluate(values)
