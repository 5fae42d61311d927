"""Expressions as text: positions of errors, suggestions, and rejected syntax."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._expressions import Checker, ExpressionError, compile_expression
from toolmd._expressions.lexer import tokens
from toolmd._expressions.rewrite import rewrite
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
CHECKER = Checker(NAMES, functions=True)


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
        ("math.sum(slots)", (1, 1), "unknown function 'math.sum'", "a tool"),
        ("1 + math.lest(1, 2)", (1, 5), "unknown function 'math.lest'", "'math.least'"),
        ("lists.rnge(2)", (1, 1), "unknown function 'lists.rnge'", "'lists.range'"),
        ("math.zzz(1)", (1, 1), "unknown function 'math.zzz'", "math.abs"),
        ("slots.length() > 0", (1, 7), "unknown function 'length'", "'size'"),
        ("max(count, 2)", (1, 1), "unknown function 'max'", "'math.greatest'"),
        ("slots.sortby(s, s.time)", (1, 7), "unknown function 'sortby'", "'sortBy'"),
        ("slts.sortby(s, s.time)", (1, 1), "unknown name 'slts'", "'slots'"),
        ("size(slot)", (1, 5), "'size' does not take object", ""),
        ("slot.map(k, k)", (1, 1), "object is no list to go through", ""),
        ("[slots.first()]", (1, 1), "optional", "orValue"),
        ("next_days(count, 3)", (1, 10), "'next_days' does not take integer, integer", ""),
        ("flag ? slot : date", (1, 6), "do not fit", ""),
        ("{1.5: date}", (1, 1), "a key of an object must be text", ""),
        ("{b'a': date}", (1, 1), "a key of an object must be text", ""),
        ("{null: date}", (1, 1), "a key of an object must be text", ""),
        ("date == 'a' &&\n '\0' == date", (2, 3), "the character NUL", ""),
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
    assert "tm." not in error.message


@pytest.mark.parametrize(
    ("source", "types", "optional"),
    [
        ("date", ("string",), False),
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
        (".slots[0].time + .date", ("string",), False),
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
    assert checked.names == {"date", "type", "slots"}
    assert checked.unguarded == {"type", "slots"}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "empty"),
        ("  // only a comment", "empty"),
        ("slot.time + ", "ends too early"),
        ("1 ==== 2", "not understood at '=='"),
        ("(" * 1000 + "1" + ")" * 1000, "has 2001 characters"),
        ("(" * 900 + "1" + ")" * 900, "nested too deeply"),
        ("[" * 900 + "]" * 900, "nested too deeply"),
        ("x" + ".a" * 900, "nested too deeply"),
        ("1" + "+1" * 900, "nested too deeply"),
        ("x" * 100_000, "has 100000 characters"),
        ("9" * 1999, "invalid int"),
        ("__result__", "two underscores"),
        ("'\ud800'", "unpaired surrogate"),
        ("a\0", "not understood"),
        ("'a\nb'", "not understood"),
        ("package == 1", "'package' is a word of CEL"),
        ("frist(x)", "unknown function 'frist'"),
        ("1 + 'a'", "'+' does not take integer, string"),
        ("x.all(i, v, true)", "unknown function 'all'"),
        ("{1.5: 2}", "a key of an object must be text"),
    ],
    ids=range(20),
)
def test_hostile_and_broken_text_is_rejected(source: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(message)):
        compile_expression(source)


def test_the_column_is_the_source_s_behind_every_rewriting() -> None:
    source = "has(a) && lists.range(2) == [1] && has(b) && 'é' + c > + 1"
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source)
    assert source[caught.value.column - 1] == "+"
    assert caught.value.column == source.rindex("+") + 1


literals = st.sampled_from(
    ["'a'", '"b"', "'''c'\n'''", '"""d\n"e"""', r"r'\'", r"'\''", "b'x'", "br'\\'", r'"\""']
)


@given(st.lists(literals | st.sampled_from(["has(x)", "y", "lists.range(1)", "// '"]), max_size=8))
def test_strings_are_never_rewritten(pieces: list[str]) -> None:
    source = "\n".join(pieces)
    kept = [token.text for token in tokens(source) if token.kind == "string"]
    assert kept == [piece for piece in pieces if piece[-1] in "'\"" and not piece.startswith("/")]
    if pieces and any(not piece.startswith("//") for piece in pieces):
        made = [token.text for token in tokens(rewrite(source).text) if token.kind == "string"]
        assert made == kept
