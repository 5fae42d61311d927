"""Expressions on values: results, missing values and limits."""

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._expressions import EvaluationError, ExpressionError, compile_expression

SLOTS = [{"time": "10:30", "n": 2}, {"time": "09:00", "n": 1}]


def value(source: str, /, **values: Any) -> Any:
    return compile_expression(source).evaluate(values)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("slots.sortBy(s, s.time).first()", {"n": 1, "time": "09:00"}),
        ("slots.map(s, s.time).join(' and ')", "10:30 and 09:00"),
        ("slots.filter(s, s.n > 1).size()", 1),
        ("slots[0].time", "10:30"),
        ("timestamp('2026-03-02T10:30:00Z').getHours()", 10),
        ("timestamp('2026-03-02T10:30:00Z')", "2026-03-02T10:30:00Z"),
        ("duration('90s') + duration('500ms')", "90.500s"),
        ("slots.map(s, s.n).sum()", 3),
        ("[1, 2.5, 2, 1.0].distinct()", [1, 2.5, 2]),
        ("[[1, 2], [3]].flatten().slice(1, 3)", [2, 3]),
        ("math.greatest(1, 2)", 2),
        ("slots[0].?none.orValue('none')", "none"),
        ("slots.first().time", "10:30"),
        ("[].first().or(slots.last()).time", "09:00"),
        ("' A b '.trim().lowerAscii().split(' ').join('-')", "a-b"),
        ("'%s'.replace('s', '%').substring(1)", "%"),
        ("timestamp('2026-03-02T23:30:00.5Z').getDate('Europe/Berlin')", 3),
        (
            "string(timestamp('2026-03-02T23:30:00.5Z') - duration('30m'))",
            "2026-03-02T23:00:00.500Z",
        ),
        ("'abc'.matches('^a') && !matches('abc', 'd$')", True),
        ("{'b': 1, 'a': [1.5, null]}", {"a": [1.5, None], "b": 1}),
        ("lists.range(3)", [0, 1, 2]),
        ("// a comment 'with a quote\n1 + 1", 2),
        ("slots[0].n in slots.map(s, s.n)", True),
        ("slots.exists_one(n, n.n == 2) && 'n' in slots[0]", True),
        ("{'slots': 3}.?slots.orValue(0)", 3),
    ],
)
def test_each_part_of_the_language_has_its_value(source: str, expected: Any) -> None:
    assert value(source, slots=SLOTS) == expected


def test_an_optional_is_unwrapped_and_none_is_null() -> None:
    assert value("xs.first()", xs=[7]) == 7
    assert value("xs.first()", xs=[]) is None
    assert value("yes ? dyn(xs.first()) : dyn(2)", xs=[7], yes=True) == 7


@pytest.mark.parametrize("source", ["[dyn(xs.first())]", "{'a': dyn(xs.first())}"])
def test_an_optional_inside_a_result_is_an_error_and_no_crash(source: str) -> None:
    with pytest.raises(EvaluationError, match="optional"):
        value(source, xs=[1])


def test_has_checks_if_a_bare_name_is_given() -> None:
    rule = compile_expression("has(cluster_id) != has(pmid_list)")
    assert rule.evaluate({"cluster_id": "c"})
    assert not rule.evaluate({})
    assert not rule.evaluate({"cluster_id": None, "pmid_list": []})


def test_has_inside_strings_and_comments_is_text() -> None:
    assert value("'has(x)' + \"has(x)\" // has(x)") == "has(x)" * 2


def test_has_on_a_field_stays_unchanged() -> None:
    assert value("has(a.b) && !has(a.c) && has(a)", a={"b": 1})


def test_a_name_without_a_value_is_an_error_outside_has() -> None:
    with pytest.raises(EvaluationError, match="'x' has no value"):
        value("x > 1")
    assert value("!has(x) || x > 1")


def test_names_and_unguarded_names_are_returned() -> None:
    program = compile_expression("has(a) && a > b && cs.exists(c, c.d == e.f)")
    assert program.names == {"a", "b", "cs", "e"}
    assert program.unguarded == {"b", "cs", "e"}


def test_names_that_are_functions_or_no_identifiers_are_reached() -> None:
    names = frozenset({"type", "package", "child-name"})
    program = compile_expression("type + package + child_name", names)
    assert program.names == names
    assert program.evaluate({"type": "a", "package": "b", "child-name": "c"}) == "abc"
    assert compile_expression("has(type) && has(child_name)", names).evaluate(
        {"type": 1, "child-name": 2}
    )


def test_next_days_returns_the_days_after_a_date() -> None:
    assert value("next_days('2028-02-28', 2)") == ["2028-02-29", "2028-03-01"]
    assert value("next_days(day, n)", day="2026-12-31", n=1.0) == ["2027-01-01"]
    assert value("next_days('2026-03-02T09:30:00', 0)") == []


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("next_days('soon', 2)", "no date"),
        ("next_days('2026-02-30', 2)", "no date"),
        ("next_days('2026-03-02', 367)", "0 to 366"),
        ("next_days('2026-03-02', -1)", "0 to 366"),
        ("next_days('2026-03-02', double(x) + 0.5)", "0 to 366"),
        ("next_days('9999-12-31', 2)", "no 2 days after"),
        ("next_days(x, 1)", "does not take"),
        ("now()", "no clock"),
        ("lists.range(1001)", "at most 1000"),
        ("[1].map(x, lists . range(100000000))", "at most 1000"),
        ("x / 0", "divide by zero"),
        ("1.0 / 0.0", "divide by zero"),
        ("9223372036854775807 + x", "too large"),
        ("1e308 * 10", "too large"),
        ("x == 'a'", "'==' does not take integer, string"),
        ("[x] != ['a']", "'==' does not take integer, string"),
        ("'1' in [x, 2]", "'==' does not take string, integer"),
        ("m == x", "'==' does not take object, integer"),
        ("math.sqrt(-1)", "no root"),
        ("[1, 'a'].sum()", "a list of numbers"),
        ("[dyn(1), 'a'].sortBy(e, e)", "several types"),
        ("{x: 1}", "must be text"),
        ("int('1.5')", "no integer"),
        ("timestamp('2026-03-02')", "no time"),
        ("duration('soon')", "no duration"),
        ("m.time.matches(m.time + '(')", "no RE2 expression"),
        ("[1][1]", "no item 1"),
        ("x ? 1 : 2", "not true or false"),
        ("x + 'a'", "does not take integer, string"),
        ("m.tme", "no field 'tme'"),
        ("m.tme.a", "no field 'tme'"),
        ("x.a", "no field 'a'"),
    ],
)
def test_an_error_states_its_reason(source: str, reason: str) -> None:
    with pytest.raises(EvaluationError, match=reason):
        value(source, x=1, m={"time": "09:00"})


def test_the_clock_is_an_argument() -> None:
    now = dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC)
    program = compile_expression("string(now() + duration('24h'))")
    assert program.evaluate({}, now=now) == "2026-03-03T09:00:00Z"
    assert compile_expression("next_days(now(), 1)").evaluate({}, now=now) == ["2026-03-03"]


def test_an_expression_says_what_it_reads_of_the_caller_and_the_clock() -> None:
    for source, facts, reads_clock in (
        ("caller.customer == c || 'x' in caller.roles", {"customer", "roles"}, False),
        ("has(caller.limit) && [1].exists(now, now > 0)", {"limit"}, False),
        ("['a'].exists(caller, caller == 'a')", set(), False),
        ("now > timestamp(t)", set(), True),
        ("string(now()) == t", set(), True),
    ):
        program = compile_expression(source)
        assert (program.facts, program.reads_clock) == (facts, reads_clock), source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x == null", False),
        ("y == null", True),
        ("null != x", True),
        ("[x, null] == [1, 2]", False),
        ("[x, 'a'] == [2, 3]", False),
        ("{'a': x} == {'a': 1.0}", True),
        ("'a' in ['b', null]", False),
        ("x in [1.0, 'a']", True),
    ],
)
def test_null_compares_with_anything_and_one_difference_decides(
    source: str, expected: bool
) -> None:
    assert value(source, x=1, y=None) is expected


@pytest.mark.parametrize("error", ["x.a", "x == 'a'", "1 / 0 > 0", "absent"])
def test_an_error_on_one_side_counts_only_if_the_other_does_not_decide(error: str) -> None:
    assert value(f"{error} || true || {error}", x=1)
    assert not value(f"{error} && false", x=1)
    assert value(f"[1, 2].exists(e, e == 2 || {error})", x=1)
    for undecided in (f"{error} || false", f"true && {error}", f"[1].all(e, {error})"):
        with pytest.raises(EvaluationError):
            value(undecided, x=1)


def test_now_is_a_name_unless_something_else_is_called_so() -> None:
    now = dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC)
    assert compile_expression("now.getHours()").evaluate({}, now=now) == 9
    assert compile_expression("[1].map(now, now + 1)").evaluate({}, now=now) == [2]
    assert compile_expression("has(now)").names == frozenset()
    named = compile_expression("now", {"now"})
    assert named.names == {"now"}
    assert named.evaluate({"now": "x"}, now=now) == "x"


def endless() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


def deep(levels: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(levels):
        made = [made]
    return made


@pytest.mark.parametrize(
    "given_value",
    [endless(), deep(100_000), {"a": endless()}, [0] * 100_001, 2**70, "\ud800", (1, 2), object()],
    ids=["endless", "deep", "endless field", "large", "too large a number", "half", "tuple", "odd"],
)
def test_odd_input_is_an_error_and_no_crash(given_value: Any) -> None:
    with pytest.raises(EvaluationError):
        value("x == 1 || [x] == [2]", x=given_value)


def test_a_runaway_loop_is_stopped() -> None:
    with pytest.raises(EvaluationError, match="too many steps"):
        value("x.all(a, x.all(b, x.all(c, a >= b || c >= 0)))", x=list(range(300)))


texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_a_value_comes_through_unchanged(given_value: Any) -> None:
    through = value("[x][0]", x=given_value)
    assert json.dumps(through, sort_keys=True) == json.dumps(given_value, sort_keys=True)
    assert value("x", x=given_value) is given_value


@given(st.text(max_size=60), json_values)
def test_any_text_has_a_value_or_one_of_two_errors(source: str, given_value: Any) -> None:
    try:
        value(source, x=given_value, y=1)
    except (ExpressionError, EvaluationError) as error:
        assert str(error)  # noqa: PT017 - either is right


@given(
    st.lists(
        st.sampled_from(
            ["x", "has(", ")", "(", "[", "]", ".", "'", '"', "\\", "1", "+", "&&", "?", ":", "{",
             "}", ",", "first()", "map(a, ", "[a, ", "null", "//", "\n", "r'", "-", "in"]
        ),
        max_size=25,
    )
)  # fmt: skip
def test_near_misses_have_a_value_or_one_of_two_errors(pieces: list[str]) -> None:
    try:
        value(" ".join(pieces), x=[{"a": [1]}])
    except (ExpressionError, EvaluationError) as error:
        assert str(error)  # noqa: PT017 - either is right
