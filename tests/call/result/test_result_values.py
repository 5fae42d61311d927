"""The values that a function may return, and the result that they become."""

import dataclasses
import datetime as dt

import pydantic
import pytest

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


def test_a_value_outside_json_is_a_tool_error(harness, tool):
    for value in (object(), {"a": lambda: 1}):

        async def give(value=value):
            return value

        result = harness(tool("give", give)).call("give")
        assert (result.outcome, result.error.code) == ("failed", "tool_error")
        assert "JSON" in result.error.message


@pytest.mark.parametrize(
    ("value", "data", "note"),
    [
        ("x\ud800y", "x\ufffdy", "An unpaired surrogate became U+FFFD in data."),
        ({"a": ["\ud83d"]}, {"a": ["\ufffd"]}, "An unpaired surrogate became U+FFFD in data.a[0]."),
        ({"\ud83d": {1}}, {"\ufffd": [1]}, "An unpaired surrogate became U+FFFD in data."),
        ({"a": float("nan")}, {"a": None}, "NaN or Infinity became null in data.a."),
    ],
)
def test_what_json_can_not_hold_is_repaired_with_a_note(harness, tool, value, data, note):
    result = harness(tool("give", lambda: value)).call("give")
    assert (result.outcome, result.data, result.notes) == ("ok", data, (note,))


def test_a_number_that_json_lacks_fails_by_name_where_returns_has_no_null(harness, tool):
    number = Parameter("a", Schema(types=("number",)))
    made = tool(
        "give", lambda: {"a": float("inf")}, returns=Schema(("object",), properties=(number,))
    )
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
