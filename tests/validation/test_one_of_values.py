"""A value of a One Of fits exactly one shape, and its problems are told of the right one."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._types.schema import Parameter, Schema
from toolmd._validation import (
    ArgumentsValidator,
    InvalidArgumentsError,
    are_apart,
    fits,
    problems,
    sample,
)
from toolmd._validation.redact import hider, redacted

TEXT = Schema(types=("string",))


def shape(name: str, *fields: Parameter) -> Parameter:
    return Parameter(name, Schema(types=("object",), properties=fields))


def needed(name: str, schema: Schema = TEXT) -> Parameter:
    return Parameter(name, schema, required=True)


def kind(value: Any) -> Parameter:
    return needed("kind", Schema(enum=(value,)))


CARD = shape(
    "card",
    kind("card"),
    needed("card_id", Schema(types=("string",), sensitive=True)),
    Parameter("months", Schema(types=("integer",), has_default=True, default=3)),
)
IBAN = shape("iban", kind("iban"), needed("iban", Schema(types=("string",), pattern="[A-Z]+")))
TOLD = Schema(types=("object",), one_of=(CARD, IBAN), discriminator="kind")
UNTOLD = Schema(
    types=("object", "null"),
    one_of=(shape("city", needed("city"), Parameter("note", TEXT)), shape("place", needed("at"))),
)


def found(value: Any, schema: Schema) -> list[tuple[str, str]]:
    listed = problems(value, schema, path="pay")
    assert fits(schema)(value) is not bool(listed)
    return [(problem.code, problem.message) for problem in listed]


def test_only_the_chosen_shape_is_explained() -> None:
    (missing,) = found({"kind": "card"}, TOLD)
    (unknown,) = found({"kind": "iban", "iban": "A", "card_id": "1"}, TOLD)

    assert missing == ("missing_argument", "pay.card_id is missing: give text")
    assert unknown == ("unknown_argument", "pay.card_id is not a parameter; known here: kind, iban")


@pytest.mark.parametrize("value", ["cards", 1, None, ["card"], {"card": 1}])
def test_an_unknown_discriminator_lists_the_shapes(value: Any) -> None:
    ((code, message),) = found({"kind": value, "iban": "A"}, TOLD)

    assert code == "not_in_enum"
    assert 'pay.kind must be one of "card", "iban"' in message


def test_a_missing_discriminator_lists_the_shapes() -> None:
    assert found({"iban": "A"}, TOLD) == [
        ("missing_argument", 'pay.kind is missing: give one of "card", "iban"')
    ]


def test_true_is_not_the_shape_of_one() -> None:
    one = Schema(
        types=("object",),
        one_of=(shape("one", kind(1), needed("a")), shape("yes", kind(True), needed("b"))),
        discriminator="kind",
    )

    assert found({"kind": True, "b": "x"}, one) == []
    assert found({"kind": 1.0, "a": "x"}, one) == []
    assert [code for code, _ in found({"kind": True, "a": "x"}, one)] == [
        "missing_argument",
        "unknown_argument",
    ]


def test_without_a_discriminator_the_nearest_shape_is_explained() -> None:
    first, *others = found({"city": "Oslo", "noté": "x"}, UNTOLD)

    assert first == (
        "no_shape_fits",
        "pay fits none of its shapes (city, place); the nearest is city",
    )
    assert [code for code, _ in others] == ["unknown_argument"]


def test_a_fixed_value_makes_its_shape_the_nearest() -> None:
    many = shape("card", kind("card"), *(needed(f"c{n}") for n in range(5)))
    schema = Schema(types=("object",), one_of=(many, IBAN))

    assert "the nearest is card" in found({"kind": "card"}, schema)[0][1]


def test_a_value_of_two_shapes_is_an_error_that_names_both() -> None:
    either = Schema(
        types=("object",),
        one_of=(shape("a", Parameter("x", TEXT)), shape("b", Parameter("y", TEXT))),
    )

    assert found({"x": "1"}, either) == []
    assert found({}, either) == [
        ("several_shapes_fit", "pay fits 2 of its shapes (a, b); give the fields of only one")
    ]


def test_null_fits_where_the_type_allows_it() -> None:
    assert found(None, UNTOLD) == []
    assert [code for code, _ in found(None, TOLD)] == ["wrong_type"]


def test_defaults_of_the_chosen_shape_are_filled() -> None:
    validator = ArgumentsValidator((needed("pay", TOLD), Parameter("to", UNTOLD)))

    assert validator.validate({"pay": {"kind": "card", "card_id": "1"}}) == {
        "pay": {"kind": "card", "card_id": "1", "months": 3}
    }
    assert validator.validate({"pay": {"kind": "iban", "iban": "A"}, "to": {"at": "x"}}) == {
        "pay": {"kind": "iban", "iban": "A"},
        "to": {"at": "x"},
    }


def test_unknown_keys_of_a_shape_are_dropped_where_the_tool_ignores_them() -> None:
    validator = ArgumentsValidator(
        (needed("pay", TOLD), Parameter("to", UNTOLD)), ignore_unknown=True
    )
    given_ = {"pay": {"kind": "iban", "iban": "A", "card_id": "1"}, "to": {"at": "x", "odd": 1}}

    notes: list[str] = []
    kept = {"pay": {"kind": "iban", "iban": "A"}, "to": {"at": "x"}}
    assert validator.validate(given_, notes) == kept
    assert "pay.card_id, to.odd" in notes[0]
    with pytest.raises(InvalidArgumentsError):
        validator.validate({"pay": {"kind": "iban", "iban": "A"}, "to": {"at": "x", "city": "y"}})


@pytest.mark.parametrize("said", ["card", "iban", "odd", None, 7])
def test_a_sensitive_field_of_any_shape_is_hidden(said: Any) -> None:
    arguments = {"pay": {"kind": said, "card_id": "4111-1111", "iban": "AB"}}
    parameters = (needed("pay", TOLD), Parameter("many", Schema(types=("array",), items=TOLD)))
    hide = hider(arguments, parameters)

    assert redacted(arguments, parameters)["pay"]["card_id"] == "(hidden)"
    assert redacted({"many": [arguments["pay"]]}, parameters)["many"][0]["card_id"] == "(hidden)"
    assert hide is not None
    assert "4111" not in hide("the card 4111-1111")
    assert "4111" not in repr(problems(arguments["pay"], TOLD))


def test_a_sample_has_the_first_shape() -> None:
    assert found(sample(TOLD), TOLD) == []
    assert found(sample(UNTOLD), UNTOLD) == []


VALUES = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.sampled_from(["x", "y", 1, None]), max_size=3
)
FIELDS = st.lists(
    st.builds(
        Parameter,
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(
            [TEXT, Schema(), Schema(enum=("x",)), Schema(enum=("y", 1)), Schema(types=("integer",))]
        ),
        st.booleans(),
    ),
    max_size=3,
    unique_by=lambda p: p.name,
)


@given(st.lists(FIELDS, min_size=2, max_size=3), VALUES)
def test_no_value_fits_two_shapes_that_are_apart(drawn: list[Any], value: dict[str, Any]) -> None:
    shapes = tuple(shape(f"s{n}", *fields) for n, fields in enumerate(drawn))
    fitting = [each for each in shapes if fits(each.shape)(value)]

    assert len(fitting) < 2 or not are_apart(Schema(types=("object",), one_of=shapes))


def test_a_value_is_checked_against_many_shapes_in_bounded_time() -> None:
    inner = TEXT
    for _ in range(3):
        many = tuple(shape(f"s{n}", needed(f"f{n}", inner)) for n in range(12))
        inner = Schema(types=("object",), one_of=many)
    value: Any = {"f1": {"f2": {"f3": 5}}}
    began = time.process_time()

    assert found(value, inner)
    assert time.process_time() - began < 5
