"""The values that a function may return, and the result that they become."""

import dataclasses
import datetime as dt
import json

import pydantic
import pytest

from toolmd._types.result import Failure, Result
from toolmd._types.schema import Parameter, Schema


@dataclasses.dataclass
class Slot:
    day: dt.date
    free: bool


class Booking(pydantic.BaseModel):
    slot: Slot


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Slot(dt.date(2026, 3, 5), free=True), {"day": "2026-03-05", "free": True}),
        (
            Booking(slot=Slot(dt.date(2026, 3, 5), free=False)),
            {"slot": {"day": "2026-03-05", "free": False}},
        ),
        ([1, (2, 3)], [1, [2, 3]]),
        ("text", "text"),
        (None, None),
        ({"a": float("nan")}, {"a": None}),
    ],
)
def test_a_value_that_pydantic_writes_as_json_is_a_result(harness, tool, value, data):
    async def give():
        return value

    giver = harness(tool("give", give))
    for _ in range(2):
        result = giver.call("give")
        assert (result.success, result.data) == (True, data)
        assert "data" in result.to_dict()
        assert json.loads(result.to_json()) == result.to_dict()


def test_a_result_without_a_value_is_json_too_even_with_half_a_surrogate():
    failed = Result(False, "find", "failed", error=Failure("not_found", "no x\ud800"))

    assert json.loads(failed.to_json()) == failed.to_dict()
    assert b'"no x\\ud800"' in failed.to_json()


@dataclasses.dataclass
class Sale:
    id: str
    price: object


LOOP: dict[str, object] = {"id": 1}
LOOP["self"] = [LOOP]


@pytest.mark.parametrize(
    ("value", "data", "note"),
    [
        ("x\ud800y", "x\ufffdy", "An unpaired surrogate became U+FFFD in data."),
        ({"a": ["\ud83d"]}, {"a": ["\ufffd"]}, "An unpaired surrogate became U+FFFD in data.a[0]."),
        ({"\ud83d": {1}}, {"\ufffd": [1]}, "An unpaired surrogate became U+FFFD in data."),
        ({"a": float("nan")}, {"a": None}, "NaN or Infinity became null in data.a."),
        (Sale("b", float("nan")), {"id": "b", "price": None},
         "NaN or Infinity became null in data.price."),
        (Sale("b", object()), {"id": "b", "price": None},
         "An object of the type object became null in data.price."),
        ({"id": "b", "raw": object(), "day": dt.date(2026, 1, 2)},
         {"id": "b", "raw": None, "day": "2026-01-02"},
         "An object of the type object became null in data.raw."),
        (LOOP, {"id": 1, "self": [None]},
         "A value that contains itself or nests too deep became null in data.self[0]."),
        ({"a": b"\xff", "b": b"x"}, {"a": "\ufffd", "b": "x"},
         "A sequence of bytes that is not UTF-8 became U+FFFD in data.a."),
        ({1: "a", "1": "b", "c": 2}, {"1": "b", "c": 2},
         "Two keys that JSON writes alike became one in data.1."),
        ([{"a": {2: 0, "2": 1}}], [{"a": {"2": 1}}],
         "Two keys that JSON writes alike became one in data[0].a.2."),
        ({object(): 1}, {"object": 1}, "A key of the type object became a text in data."),
    ],
)  # fmt: skip
def test_what_json_can_not_hold_is_repaired_with_a_note(harness, tool, value, data, note):
    returns = Schema(("array", "object", "string"))
    result = harness(tool("give", lambda: value, returns=returns)).call("give")
    assert (result.outcome, result.data, result.notes) == ("ok", data, (note,))


def test_keys_that_are_not_text_need_no_note(harness, tool):
    result = harness(tool("give", lambda: {1: "a", 2: {None: 3}})).call("give")
    assert (result.data, result.notes) == ({"1": "a", "2": {"None": 3}}, ())


@pytest.mark.parametrize("value", [float("inf"), object()])
def test_a_repaired_value_fails_by_name_where_returns_has_no_null(harness, tool, value):
    number = Parameter("a", Schema(types=("number",)))
    made = tool("give", lambda: {"a": value}, returns=Schema(("object",), properties=(number,)))
    result = harness(made).call("give")
    assert result.outcome == "failed"
    assert "data.a" in result.error.message


def test_a_result_shares_nothing_with_the_tool(harness, tool):
    kept = {"names": ["Ada"]}

    async def give():
        return kept

    result = harness(tool("give", give)).call("give")
    kept["names"].append("Bob")
    result.data["names"].append("Eve")
    assert result.data == {"names": ["Ada"]}


def test_message_and_source_of_an_object_are_set_on_the_result(harness, tool):
    returned = {"message": "Logged aspirin", "source": {"system": "ehr"}, "id": 1}

    async def give():
        return returned

    closed = Schema(
        types=("object",),
        properties=(Parameter(name="id", shape=Schema(types=("integer",)), required=True),),
    )
    for returns, data in ((Schema(types=("object",)), returned), (closed, {"id": 1})):
        result = harness(tool("give", give, returns=returns)).call("give")
        assert (result.message, result.source) == ("Logged aspirin", {"system": "ehr"})
        assert (result.data, result.notes) == (data, ())


def test_a_result_that_does_not_fit_the_file_is_returned_with_a_note(harness, tool):
    async def give():
        return {"id": "one"}

    closed = Schema(
        types=("object",),
        properties=(Parameter(name="id", shape=Schema(types=("integer",)), required=True),),
    )
    result = harness(tool("give", give, returns=closed)).call("give")
    assert (result.success, result.data) == (True, {"id": "one"})
    assert result.notes == (
        (
            "The result is not what the tool's file says it Returns: "
            'data.id must be an integer; got "one".'
        ),
    )
