"""Expressions as text: positions of errors, suggestions, and rejected syntax."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._expressions import Checker, ExpressionError, compile_expression, tokens
from toolmd._types.schema import Parameter, Schema

TEXT = Schema(types=("string",))
WHOLE = Schema(types=("integer",))
NUMBER = Schema(types=("number",))
SLOT = Schema(
    types=("object",),
    properties=(
        Parameter(name="time", shape=TEXT, required=True),
        Parameter(name="room", shape=NUMBER),
        Parameter(name="tags", shape=Schema(types=("array",), items=TEXT)),
        Parameter(
            name="dentist",
            shape=Schema(types=("object",), properties=(Parameter(name="name", shape=TEXT),)),
        ),
    ),
)
NAMES = {
    "slot": SLOT,
    "slots": Schema(types=("array",), items=SLOT),
    "date": TEXT,
    "count": WHOLE,
    "price": NUMBER,
    "flag": Schema(types=("boolean",)),
    "loose": Schema(types=("object",)),
    "either": Schema(types=("string", "array")),
    "type": TEXT,
    "child-name": TEXT,
    "odd": Schema(types=("object",), properties=(Parameter(name="a-b", shape=TEXT),)),
    "twin": Schema(
        types=("object",),
        properties=(Parameter(name="a_b", shape=TEXT), Parameter(name="aB", shape=TEXT)),
    ),
}
CHECKER = Checker(NAMES)


@pytest.mark.parametrize(
    ("source", "place", "message", "suggestion"),
    [
        ("slot.tme", (1, 6), "no field 'tme'", "'time'"),
        ("slots.map(s, s.tme)", (1, 16), "no field 'tme'", "'time'"),
        ("slots[0].dentist.nme", (1, 18), "no field 'nme'", "'name'"),
        ("slts.size() > 0", (1, 1), "unknown name 'slts'", "'slots'"),
        ("has(slo) && flag", (1, 5), "unknown name 'slo'", "'slot'"),
        ("has(slot) && slts[0].time == date", (1, 14), "unknown name 'slts'", "'slots'"),
        ("flag &&\n count > date", (2, 8), "'>' does not take integer, string", ""),
        ("count > 'a'", (1, 7), "'>' does not take integer, string", ""),
        ("slots.frist()", (1, 7), "unknown function 'frist'", "'first'"),
        ("math.sum(slots)", (1, 1), "unknown function 'math.sum'", "'sum'"),
        ("1 + math.lest(1, 2)", (1, 5), "unknown function 'math.lest'", "'math.least'"),
        ("lists.rnge(2)", (1, 1), "unknown function 'lists.rnge'", "'lists.range'"),
        ("math.zzz(1)", (1, 1), "unknown function 'math.zzz'", "math.abs"),
        ("slots.length() > 0", (1, 7), "unknown function 'length'", "'size'"),
        ("max(count, 2)", (1, 1), "unknown function 'max'", "'math.greatest'"),
        ("slots.sortby(s, s.time)", (1, 7), "unknown function 'sortby'", "'sortBy'"),
        ("slts.sortby(s, s.time)", (1, 1), "unknown name 'slts'", "'slots'"),
        ("size(slot)", (1, 1), "'size' does not take object", ""),
        ("slot.map(k, k)", (1, 1), "object is no list to go through", ""),
        ("[slots.first()]", (1, 1), "optional", "orValue"),
        ("next_days(count, 3)", (1, 1), "'next_days' does not take integer, integer", ""),
        ("flag ? slot : date", (1, 6), "'? :' does not take boolean, object, string", ""),
        ("{1.5: date}", (1, 2), "a key of an object must be text", ""),
        ("{null: date}", (1, 2), "a key of an object must be text", ""),
        ("{count: date}", (1, 2), "a key of an object must be text", ""),
        ("date == count", (1, 6), "'==' does not take string, integer", ""),
        ("flag ? [date] == [count] : flag", (1, 15), "'==' does not take list(string)", ""),
        ("count in slots", (1, 7), "'in' does not take integer, list(object)", ""),
        ("slots.first() == slot", (1, 15), "optional, object", "`.orValue(…)`"),
        ("slots.filter(s, s.time)", (1, 7), "'filter' does not take", ""),
        ("date.matches('(')", (1, 14), "no RE2 expression", ""),
        ("now.getHours('Europe/Pari') > 5", (1, 14), "no time zone", ""),
        ("now > timestamp('2026-01-01')", (1, 17), "no time", ""),
        ("now - duration('1d') > now", (1, 16), "no duration", ""),
        ("count / 0 > 1", (1, 9), "divide by zero", ""),
        ("count % 0 == 1", (1, 9), "divide by zero", ""),
        ("slots.all(s, 1/0 > s.room)", (1, 16), "divide by zero", ""),
        ("int('one') == count", (1, 5), "no integer", ""),
        ("not (flag)", (1, 1), "unknown function 'not'", "'!'"),
        ("count > 'a'", (1, 7), "does not take", "(number, number)"),
        ("zzz(count)", (1, 1), "unknown function 'zzz'", "size"),
        ("zzz > 1", (1, 1), "unknown name 'zzz'", "in quotes"),
        ("date.zzz", (1, 6), "string has no fields", ""),
        ("count > 99999999999999999999", (1, 9), "too large", ""),
        ("date.size(1)", (1, 6), "'size' does not take string, integer", ""),
        ("date.math()", (1, 6), "unknown function 'math'", ""),
        ("int(date).min(3)", (1, 11), "unknown function 'min'", "'math.least'"),
        ("date.int()", (1, 6), "unknown function 'int'", "`int(value)`"),
        ("trim(date)", (1, 1), "unknown function 'trim'", "`value.trim(…)`"),
    ],
)
def test_an_error_has_its_position(
    source: str, place: tuple[int, int], message: str, suggestion: str
) -> None:
    with pytest.raises(ExpressionError) as caught:
        CHECKER.check(source)
    error = caught.value
    assert message in error.message
    assert (error.line, error.column) == place
    assert suggestion in error.help
    assert error.help
    assert "tm." not in error.message


@pytest.mark.parametrize(
    ("source", "types", "optional"),
    [
        ("date", ("string",), False),
        ("price * 2", ("number",), False),
        ("price > 1 ? price : 0", ("number",), False),
        ("count / 2", ("integer",), False),
        ("now - duration('1h')", ("string",), False),
        ("slots.map(s, s.room)[0]", ("number",), False),
        ("slot['time']", ("string",), False),
        ("slots.map(s, [s.time]).flatten().distinct()", ("array",), False),
        ("price", ("number",), False),
        ("slot.room", ("number",), False),
        ("slot.dentist.name", ("string",), False),
        ("slots", ("array",), False),
        ("slots.sortBy(s, s.time).first()", ("object",), True),
        ("slots.size() > 0", ("boolean",), False),
        ("slot.tags.join(', ')", ("string",), False),
        ("count + 1", ("integer",), False),
        ("string(now())", ("string",), False),
        ("next_days(date, count)", ("array",), False),
        ("type + child_name", ("string",), False),
        ("has(type) && has(child_name)", ("boolean",), False),
        ("{'a': date}", ("object",), False),
    ],
)
def test_the_shape_of_a_result_is_returned(
    source: str, types: tuple[str, ...], *, optional: bool
) -> None:
    checked = CHECKER.check(source)
    assert checked.schema is not None
    assert (checked.schema.types, checked.optional) == (types, optional)


@pytest.mark.parametrize(
    "source",
    ["loose.anything", "either", "odd['a-b']", "twin.aB", "price * price", "slots[0].room"],
)
def test_an_expression_without_a_type_passes(source: str) -> None:
    CHECKER.check(source)


def test_unguarded_names_are_returned() -> None:
    checked = Checker(NAMES).check("has(date) && date == type && slots.all(s, s.time > date)")
    assert checked.program.names == {"date", "type", "slots"}
    assert checked.program.unguarded == {"type", "slots"}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "empty"),
        ("  // only a comment", "empty"),
        ("slot.time + ", "ends too early"),
        ("1 ==== 2", "'===' is no operator"),
        ("(" * 1000 + "1" + ")" * 1000, "has 2001 characters"),
        ("(" * 900 + "1" + ")" * 900, "nested too deeply"),
        ("!" * 900 + "x", "nested too deeply"),
        ("x ? 1 : " * 100 + "2", "nested too deeply"),
        ("[1].map(x, " * 100 + "x" + ")" * 100, "nested too deeply"),
        ("[" * 900 + "]" * 900, "nested too deeply"),
        ("x" + ".a" * 900, "nested too deeply"),
        ("1" + "+1" * 900, "nested too deeply"),
        ("x" * 100_000, "has 100000 characters"),
        ("9" * 1999, "too large"),
        ("9223372036854775808", "too large"),
        ("1e999", "too large"),
        ("r'raw'", "raw text and bytes"),
        ("b'bytes'", "raw text and bytes"),
        ("9u", "no unsigned numbers"),
        (r"'\d'", "stands for no character"),
        (r"'\ud800'", "stands for no character"),
        (".a", "not understood at '.'"),
        ("cel.bind(x, 1, x)", "unknown function 'bind'"),
        ("math.bitOr(1, 2)", "unknown function 'math.bitOr'"),
        ("'\ud800'", "unpaired surrogate"),
        ("a\0", "not understood"),
        ("'a\nb'", "not understood"),
        ("in == 1", "not understood at 'in'"),
        ("frist(x)", "unknown function 'frist'"),
        ("1 + 'a'", "'+' does not take integer, string"),
        ("x.all(i, v, true)", "'all' takes a name and an expression"),
        ("{1.5: 2}", "a key of an object must be text"),
    ],
    ids=lambda text: text[:20],
)
def test_hostile_and_broken_text_is_rejected(source: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(message)):
        compile_expression(source)


def test_a_place_is_a_line_and_a_column() -> None:
    source = "has(a) && lists.range(2) == [1] && has(b) && 'é' + c >\n + 1"
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source)
    assert (caught.value.line, caught.value.column) == (2, 2)


def test_long_conditions_and_known_words_are_no_mistake() -> None:
    assert compile_expression(" && ".join(["x"] * 300)).evaluate({"x": True})
    package = compile_expression("package + for + lists.size()")
    assert package.evaluate({"package": 1, "for": 2, "lists": [3]}) == 4


literals = st.sampled_from(["'a'", '"b"', r"'\''", r'"\""', "'//'", "'has(x)'"])


@given(st.lists(literals | st.sampled_from(["has(x)", "y", "// '"]), max_size=8))
def test_strings_stay_whole(pieces: list[str]) -> None:
    found = [token.text for token in tokens("\n".join(pieces)) if token.kind == "string"]
    assert found == [piece for piece in pieces if piece[-1] in "'\"" and not piece.startswith("/")]
