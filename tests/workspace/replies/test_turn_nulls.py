"""OpenAI's strict mode writes `null` for omitted arguments; elsewhere null is a value."""

import pytest
from turn_world import chat, inline, tool_use

GIVEN = {
    "trip": {"to": "Rome", "by": None, "none": None},
    "stops": [{"at": None}, {"at": "Pisa"}],
}


def responses(name, arguments):
    import json

    item = {"type": "function_call", "call_id": "c", "name": name}
    return {"output": [{**item, "arguments": json.dumps(arguments)}]}


@pytest.mark.parametrize(
    "reply", [chat(("travel", GIVEN)), responses("travel", GIVEN)], ids=["chat", "responses"]
)
@pytest.mark.parametrize("dialect", ["auto", "openai"])
def test_null_is_removed_at_every_depth(world, reply, dialect):
    (result,) = world.handle(reply, dialect).results
    assert result.success
    trip = {"to": "Rome", "none": None}
    assert world.ran == [("travel", trip, [{}, {"at": "Pisa"}])]


def test_a_call_from_python_is_read_in_the_same_way(world):
    result = world.workspace.call_sync("travel", GIVEN)
    assert result.success
    assert result.notes == ("null counts as missing: trip.by, stops[0].at",)


@pytest.mark.parametrize("reply", [tool_use(("travel", GIVEN)), inline("travel", **GIVEN)])
def test_null_counts_as_missing_in_every_dialect_with_a_note(world, reply):
    (result,) = world.handle(reply).results
    assert result.success
    assert result.notes == ("null counts as missing: trip.by, stops[0].at",)


@pytest.mark.parametrize("arguments", [{"trip": None}, {"trip": {"to": None}}, {"nothing": None}])
def test_null_for_a_required_or_unknown_argument_stays_an_error(world, arguments):
    (result,) = world.handle(chat(("travel", arguments))).results
    assert result.error.code == "invalid_arguments"
