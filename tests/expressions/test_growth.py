"""No expression takes more than a bound, whatever its author wrote and its caller sends."""

import tracemalloc
from collections.abc import Iterable
from typing import Any

import pytest
from cel_expr_python import cel
from hypothesis import given, settings
from hypothesis import strategies as st

from toolmd._expressions import (
    Checker,
    EvaluationError,
    ExpressionError,
    compile_expression,
)
from toolmd._expressions.environment import environment
from toolmd._expressions.growth import MOST, ONE_VALUE, GrowthBound
from toolmd._expressions.plain import measured
from toolmd._expressions.rewrite import rewrite
from toolmd._expressions.tree import Node, tree_of
from toolmd._types.schema import Schema


def nested(around: str, levels: int, inside: str = "'0123456789'") -> str:
    """Put an expression into itself: `@` is the one inside, `#` the number of the level."""
    for level in range(levels):
        around_it = around.replace("#", str(level))
        inside = around_it.replace("@", inside)
    return inside


MANY = f"[{', '.join(['v#'] * 40)}].join('')"
BOMBS = {
    "a text is doubled": nested("cel.bind(v#, @, v# + v#)", 28),
    "a list is doubled": nested("cel.bind(v#, @, v# + v#)", 26, "[1, 2, 3]"),
    "a list holds itself twice": nested("cel.bind(v#, @, [v#, v#])", 26, "1"),
    "an object holds itself twice": nested("cel.bind(v#, @, {'a': v#, 'b': v#})", 26, "1"),
    "each letter is replaced by many": "'a'" + ".replace('a', 'aaaaaaaaaaaaaaaa')" * 9,
    "each letter is joined by many": nested("@.split('').join('0123456789ABCDEF')", 8),
    "a loop over one item names it": nested(f"[@].map(v#, {MANY})[0]", 5),
    "an optional names it": nested(f"optional.of(@).optMap(v#, {MANY}).value()", 5),
    "a loop makes one text of many": nested("lists.range(1000).map(i, @).join('')", 4),
    "a format repeats it": nested("cel.bind(v#, @, '%s%s%s%s'.format([v#, v#, v#, v#]))", 18),
    "loops in loops": nested("lists.range(9).map(i#, @)", 12, "1"),
    "a list is made of each letter": nested("cel.bind(v#, @, v# + v#)", 22) + ".split('')",
}


@pytest.mark.parametrize("what", BOMBS)
def test_an_expression_that_must_grow_too_large_is_rejected_when_it_is_parsed(what: str) -> None:
    for read in (compile_expression, Checker({}).check):
        with pytest.raises(ExpressionError) as refused:
            read(BOMBS[what])
        assert "may take over 512 MiB" in refused.value.message
        assert "compute it in a tool" in refused.value.help


def test_typed_names_are_bounded_by_their_types() -> None:
    names = {"x": Schema(types=("string",))}
    bomb = nested("cel.bind(v#, @, v# + v#)", 28, "x + 'a'")
    with pytest.raises(ExpressionError, match="may take over"):
        Checker(names).check(bomb)


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("xs.map(x, x)", {"xs": list(range(9000))}),
        ("xs.filter(x, x > 0).size() > 0", {"xs": list(range(9000))}),
        ("a.replace('a', b)", {"a": "a" * 20_000, "b": "b" * 20_000}),
        ("xs.join(a)", {"xs": ["x"] * 50_000, "a": "b" * 20_000}),
        ("a + a + a + a + a", {"a": "a" * 40_000_000}),
        ("a.split('').map(x, x + x)", {"a": "a" * 9000}),
    ],
)
def test_an_expression_that_would_grow_too_large_is_not_evaluated(
    source: str, values: dict[str, Any]
) -> None:
    program = compile_expression(source)
    tracemalloc.start()
    with pytest.raises(EvaluationError, match="may take over 512 MiB on these values"):
        program.evaluate(values)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    # A little of the same is nothing odd.
    program.evaluate({name: value[:20] for name, value in values.items()})


ROWS = [{"name": f"row {n}", "n": n, "tags": ["a", "b"]} for n in range(1000)]


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("rows.filter(r, r.n > 10).map(r, r.name).join(', ').size() > 0", {"rows": ROWS}),
        ("rows.sortBy(r, r.n).first().name", {"rows": ROWS}),
        ("rows.all(r, r.tags.exists(t, t == 'a'))", {"rows": ROWS}),
        ("rows.map(r, r.tags).flatten().distinct()", {"rows": ROWS[:200]}),
        ("xs.exists(x, x == 3)", {"xs": list(range(9000))}),
        ("xs.filter(x, x > 0).size()", {"xs": list(range(5000))}),
        ("a.size() < 10_000_000".replace("_", ""), {"a": "a" * 5_000_000}),
        ("a.matches('^a+$') && a.replace('a', 'b').startsWith('b')", {"a": "a" * 300_000}),
        ("'%s: %d of %.2f'.format([a, 3, 2.5]) + a", {"a": "a" * 1000}),
        ("a.split(' ').map(w, w.upperAscii()).join(' ')", {"a": "some words " * 100}),
        ("lists.range(31).map(d, lists.range(24).map(h, d * 24 + h))", {}),
        ("cel.bind(t, a + b, t + t.lowerAscii())", {"a": "A" * 1000, "b": "b"}),
    ],
)
def test_ordinary_expressions_are_evaluated(source: str, values: dict[str, Any]) -> None:
    compile_expression(source).evaluate(values)


def test_an_unknown_function_is_assumed_to_multiply() -> None:
    size = {"x": measured("a" * 1000, "x")}
    odd = Node("call", "odd", parts=(Node("name", "x"), Node("name", "x")))
    assert GrowthBound(odd).bytes(size) > 4 * 1000**2


def test_an_unreadable_tree_is_rejected() -> None:
    class Odd:
        def serialize(self) -> bytes:
            return b"\x0b\x0b"

    with pytest.raises(ValueError, match="can't be read"):
        tree_of(Odd())


names = st.sampled_from(["x", "xs", "o"])
leaves = names | st.sampled_from(["'ab'", "1", "[1, 'b']", "{'k': 'v'}", "lists.range(3)"])
WAYS = (
    "({0} + {1})", "[{0}, {1}]", "{{'a': {0}, 'b': {1}}}", "cel.bind(v, {0}, [v, v, {1}])",
    "cel.bind(v, {0}, v + v)", "{0}.map(i, [i, {1}])", "{0}.map(i, i)", "{0}.filter(i, true)",
    "string({0})", "{0}.replace('a', {1})", "{0}.join({1})", "{0}.join()", "{0}.split({1})",
    "'%s %s'.format([{0}, {1}])", "{0}.map(i, i + i)", "({0} == {1} ? {0} : {1})", "{0}[0]",
    "{0}.flatten()", "{0}.sort()", "{0}.distinct()", "{0}.reverse()", "{0}.map(i, {1}.map(j, i))",
    "{0}.first().orValue({1})", "optional.of({0}).optMap(v, v + {1})", "{0}.k", "dyn({0}).size()",
    "{0}.lowerAscii()", "bytes({0})", "strings.quote({0})", "{0}.substring(1)", "{0}.charAt(0)",
    "{0}.exists(i, i == {1})", "{0}.sortBy(i, string(i))", "{0}.slice(0, 1)", "lists.range({0})",
)  # fmt: skip
expressions = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda way, one, two: way.format(one, two), st.sampled_from(WAYS), inner, inner
    ),
    max_leaves=8,
)
texts = st.text("ab é\U0001f600", max_size=6)
lists_ = st.lists(texts | st.integers(-9, 9) | st.lists(texts, max_size=3), max_size=5)


@settings(max_examples=4 * settings.default.max_examples)
@given(expressions, texts, lists_, st.dictionaries(st.sampled_from("kab"), texts | lists_))
def test_nothing_ever_grows_beyond_its_bound(source: str, x: str, xs: Any, o: Any) -> None:
    values = {"x": x, "xs": xs, "o": o}
    try:
        result = compile_expression(source).evaluate(values)
    except (ExpressionError, EvaluationError):
        return
    sizes = {name: measured(value, name) for name, value in values.items()}
    given_result = measured(result, "result")
    bound = GrowthBound(_tree(source, values)).bytes(sizes, ONE_VALUE)
    # What comes out as bytes is written in base64.
    least = 3 * given_result.text + 64 * given_result.nodes
    assert least <= bound <= MOST


def _tree(source: str, names: Iterable[str]) -> Node:
    made = environment(dict.fromkeys(names, cel.Type.DYN), functions=False)
    return tree_of(made.compile(rewrite(source).text))
