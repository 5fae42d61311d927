"""Arguments against parameters: strict types, defaults, unknown keys, mendable problems."""

import json
from dataclasses import replace
from typing import Any

import pytest

from toolmd._types.schema import Parameter, Schema
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError, problems

TEXT = Schema(types=("string",))
INTEGER = Schema(types=("integer",))


def one(shape: Schema, *, required: bool = True) -> ArgumentsValidator:
    """Give a validator of one parameter `x`."""
    return ArgumentsValidator((Parameter(name="x", shape=shape, required=required),))


def accepts(shape: Schema, value: Any) -> bool:
    """Tell whether `x` may be this value, by the validator and by the explanation alike."""
    if not problems(value, shape):
        assert list(one(shape).validate(json.dumps({"x": value}))) == ["x"]
        return True
    with pytest.raises(InvalidArgumentsError):
        one(shape).validate(json.dumps({"x": value}))
    return False


STRICT = [
    ("string", "2", [2, True, None, [], {}]),
    ("integer", 2, ["2", True, 2.5, None, [2]]),
    ("number", 2, ["2", True, None]),
    ("number", 2.5, ["2.5", False]),
    ("boolean", True, [1, 0, "true", None]),
    ("array", [], [{}, "[]", None]),
    ("object", {}, [[], "{}", None]),
    ("null", None, [0, False, "", "null"]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), STRICT)
def test_types_are_strict(kind: Any, good: Any, bad: list[Any]) -> None:
    shape = Schema(types=(kind,))
    assert accepts(shape, good)
    for value in bad:
        assert not accepts(shape, value)
        (problem,) = problems(value, shape)
        assert problem.code == "wrong_type"


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (Schema(minimum=0), 0, -1),
        (Schema(maximum=0), 0, 1),
        (Schema(max_length=0), "", "a"),
        (Schema(max_items=0), [], [None]),
    ],
)
def test_a_bound_of_zero_binds_a_value_of_any_type(shape: Schema, good: Any, bad: Any) -> None:
    assert accepts(shape, good)
    assert not accepts(shape, bad)


def test_an_integral_number_is_an_integer_and_comes_out_as_one() -> None:
    (value,) = one(INTEGER).validate('{"x": 2.0}').values()
    assert value == 2
    assert type(value) is int


@pytest.mark.parametrize(("text", "kind"), [("2", int), ("2.0", float), ("2.5", float)])
def test_a_number_stays_unchanged(text: str, kind: type) -> None:
    (value,) = one(Schema(types=("number",))).validate(f'{{"x": {text}}}').values()
    assert type(value) is kind


def test_an_enum_distinguishes_true_from_one_and_text_from_numbers() -> None:
    ones = Schema(enum=(1, "a"))
    assert accepts(ones, 1)
    assert accepts(ones, 1.0)
    assert accepts(ones, "a")
    assert not accepts(ones, value=True)
    assert not accepts(ones, "1")
    assert not accepts(Schema(types=("boolean",), enum=(True,)), value=False)
    nested = Schema(enum=([True], {"a": 0}))
    assert accepts(nested, [True])
    assert not accepts(nested, [1])
    assert not accepts(nested, {"a": False})


def test_a_union_accepts_each_of_its_types_and_no_other() -> None:
    shape = Schema(types=("string", "array"), min_length=2, items=INTEGER)
    assert accepts(shape, "ab")
    assert accepts(shape, [1])
    assert not accepts(shape, "a")
    assert not accepts(shape, ["a"])
    assert not accepts(shape, 1)


@pytest.mark.parametrize("value", ["ab", "abcd", "ä👍🏽"])
def test_lengths_count_code_points(value: str) -> None:
    assert accepts(Schema(types=("string",), min_length=2, max_length=4), value)


def test_one_character_too_few_or_too_many_is_an_error() -> None:
    shape = Schema(types=("string",), min_length=2, max_length=4)
    assert [p.code for p in problems("a", shape)] == ["too_short"]
    assert [p.code for p in problems("👍" * 5, shape)] == ["too_long"]


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_both_ends_of_a_range_belong_to_it(kind: Any) -> None:
    shape = Schema(types=(kind,), minimum=1, maximum=300)
    assert accepts(shape, 1)
    assert accepts(shape, 300)
    assert not accepts(shape, 0)
    assert not accepts(shape, 301)
    (problem,) = problems(301, shape, path="systolic")
    assert problem.code == "out_of_range"
    assert problem.message == "systolic must be in 1..300; got 301"


def test_an_integer_may_have_a_fraction_as_its_bound() -> None:
    shape = Schema(types=("integer",), minimum=0.5, maximum=2.5)
    assert [accepts(shape, n) for n in (0, 1, 2, 3)] == [False, True, True, False]


def test_a_pattern_applies_to_the_whole_text() -> None:
    shape = Schema(types=("string",), pattern="[a-z]+|[0-9]+")
    assert accepts(shape, "abc")
    assert not accepts(shape, "abc1")
    assert not accepts(shape, "abc\n")


def test_a_pattern_that_blocks_a_backtracking_engine_is_fast() -> None:
    assert not accepts(Schema(types=("string",), pattern="(a+)+b"), "a" * 5000)


def test_repeated_items_are_compared_by_their_json_type() -> None:
    shape = Schema(types=("array",), unique=True)
    assert accepts(shape, [1, True, "1", [1], [True]])
    assert not accepts(shape, [1, 1.0])
    assert problems([1, 2, 1], shape, path="days")[0].path == "days[2]"


NESTED = Schema(
    types=("object",),
    properties=(
        Parameter(name="name", shape=TEXT, required=True),
        Parameter(name="retries", shape=Schema(types=("integer",), has_default=True, default=3)),
    ),
)


def test_defaults_are_filled_at_every_depth() -> None:
    validator = ArgumentsValidator(
        (
            Parameter(name="jobs", shape=Schema(types=("array",), items=NESTED), required=True),
            Parameter(
                name="first",
                shape=replace(NESTED, has_default=True, default={"name": "a"}),
            ),
        )
    )
    assert validator.validate('{"jobs": [{"name": "b"}]}') == {
        "jobs": [{"name": "b", "retries": 3}],
        "first": {"name": "a", "retries": 3},
    }


def test_a_default_is_never_shared_between_calls() -> None:
    tags = Schema(types=("array",), items=TEXT, has_default=True, default=["a"])
    validator = one(tags)
    validator.validate("{}")["x"].append("b")
    assert validator.validate("{}") == {"x": ["a"]}


def test_unknown_keys_are_errors_at_every_depth_with_the_nearest_name() -> None:
    validator = one(NESTED)
    with pytest.raises(InvalidArgumentsError) as caught:
        validator.validate('{"x": {"name": "a", "retires": 1}, "y": 2}')
    codes = [(p.code, p.path, p.expected) for p in caught.value.problems]
    assert codes == [
        ("unknown_argument", "x.retires", "retries"),
        ("unknown_argument", "y", "x"),
    ]


def test_a_tool_that_ignores_unknown_keys_drops_and_reports_them_at_every_depth() -> None:
    shape = Schema(types=("array",), items=NESTED)
    validator = ArgumentsValidator((Parameter(name="x", shape=shape),), ignore_unknown=True)
    given = {"x": [{"name": "a", "colour": 1}], "size": 2}
    notes: list[str] = []
    assert validator.validate(given, notes) == {"x": [{"name": "a", "retries": 3}]}
    assert notes == ["Ignored, because the tool does not know them: x[0].colour, size."]


def test_without_filling_an_absent_argument_stays_absent_at_every_depth() -> None:
    shape = Schema(types=("array",), items=NESTED)
    seven = Schema(types=("integer",), has_default=True, default=7)
    fields = (Parameter("x", shape), Parameter("y", seven), Parameter("z", seven, required=True))
    validator = ArgumentsValidator(fields, fill=False)
    assert validator.validate({"x": [{"name": "a"}], "z": 1}) == {"x": [{"name": "a"}], "z": 1}
    with pytest.raises(InvalidArgumentsError, match="z"):
        validator.validate({})


def test_every_problem_is_reported_with_the_expected_value() -> None:
    validator = ArgumentsValidator(
        (
            Parameter(name="names", shape=Schema(types=("array",), items=TEXT), required=True),
            Parameter(name="kind", shape=Schema(types=("string",), enum=("exam", "cleaning"))),
            Parameter(name="day", shape=Schema(types=("string",), format="date")),
        )
    )
    with pytest.raises(InvalidArgumentsError) as caught:
        validator.validate('{"kind": "exm", "day": "2026-02-30", "nmes": []}')
    assert [p.message for p in caught.value.problems] == [
        "names is missing: give an array",
        'kind must be one of "exam", "cleaning" (did you mean "exam"?); got "exm"',
        'day must be a real date such as 2026-03-05; got "2026-02-30"',
        "nmes is not a parameter; did you mean names?",
    ]


def test_a_sensitive_value_is_never_quoted() -> None:
    secret = Schema(
        types=("object",),
        sensitive=True,
        properties=(
            Parameter(name="pin", shape=Schema(types=("string",), pattern="[0-9]{4}")),
            Parameter(name="kind", shape=Schema(types=("string",), enum=("a", "b"))),
            Parameter(name="age", shape=Schema(types=("integer",), maximum=9)),
        ),
    )
    told = problems({"pin": "hunter2", "kind": "hunter2", "age": 4711}, secret)
    assert len(told) == 3
    assert {p.got for p in told} == {"(hidden)"}
    assert "hunter2" not in str(told)
    assert "4711" not in str(told)


def test_a_value_in_place_of_one_with_sensitive_parts_is_never_quoted() -> None:
    pin = Schema(types=("string",), sensitive=True)
    pins = Schema(types=("array",), items=pin, unique=True)
    account = Schema(types=("object",), properties=(Parameter(name="pin", shape=pin),))
    either = Schema(types=("object",), one_of=(Parameter(name="account", shape=account),))
    for shape in (pins, account, either, Schema(types=("array",), items=account)):
        assert "hunter2" not in str(problems("hunter2", shape))
    told = problems(["hunter2", "hunter2"], pins)
    assert [p.code for p in told] == ["not_unique"]
    assert "hunter2" not in str(told)


def test_quoted_values_are_bounded() -> None:
    told = problems(
        {"a" * 5000: "b" * 5000, "c": list(range(5000)), "d": 10**4000},
        Schema(types=("object",), values=Schema(types=("boolean",))),
    )
    assert len(told) == 3
    assert all(len(str(problem)) < 600 for problem in told)


def test_at_most_thirty_two_problems_are_listed() -> None:
    assert len(problems(["x"] * 5000, Schema(types=("array",), items=INTEGER))) == 32


def test_a_parameterless_tool_accepts_an_empty_object_only() -> None:
    validator = ArgumentsValidator(())
    assert validator.validate("{}") == {}
    with pytest.raises(InvalidArgumentsError) as caught:
        validator.validate({"a": 1})
    assert caught.value.problems[0].expected == "no arguments"
