"""The quick way of a tool gives what the ladder in full gives, for whatever comes."""

import inspect
import json
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolmd._call.invoke.plain import may_wait
from toolmd._model.contract import Rule, Safety
from toolmd._model.schema import Parameter, Schema

TEXT = Schema(types=("string",))
PARAMETERS = (
    Parameter(name="names", shape=Schema(types=("array",), items=TEXT), required=True),
    Parameter(name="when", shape=TEXT, required=True),
    Parameter(name="kind", shape=Schema(types=("string",), enum=("exam", "call")), required=True),
)
SOME = (
    Parameter(name="names", shape=Schema(types=("array",), items=TEXT)),
    Parameter(name="when", shape=TEXT),
    Parameter(name="count", shape=Schema(types=("integer",), minimum=1), required=True),
)
FILLED = (
    Parameter(name="when", shape=Schema(types=("string",), has_default=True, default="now")),
    Parameter(name="count", shape=Schema(types=("integer",), has_default=True, default=1.0)),
    Parameter(name="kind", shape=Schema(types=("string", "null"), has_default=True)),
    Parameter(name="names", shape=Schema(types=("array",), items=TEXT), required=True),
)
SHAPES = {"all": PARAMETERS, "some": SOME, "none": (), "filled": FILLED}
GOOD = {
    "all": {"names": ["Ada"], "when": "today", "kind": "exam"},
    "some": {"names": ["Ada"], "when": "today", "count": 1},
    "none": {},
    "filled": {"names": ["Ada"]},
}
SAID = {"message": "Please book it today", "confidence": 0.9, "user": "u1", "patient": "p1"}
GUARDS = {
    "free": {},
    "known": {"requires_auth": True, "requires_patient_context": True},
    "guarded": {
        "safety": Safety(min_confidence=0.7, explicit_intent=True, intent_keywords=("book",))
    },
    "asked": {"safety": Safety(confirm_when="false")},
}


async def book(**given):
    return {"given": given}


def pair(harness, tool, shape, guard):
    """Give a door that knows the quick way of a tool, and one that always goes the whole ladder."""
    made = [tool("book", book, *SHAPES[shape], returns=Schema(types=("object",)), **GUARDS[guard])
            for _ in range(2)]  # fmt: skip
    quick = harness(made[0])
    whole = harness(made[1], before=lambda _call, _tool: None)
    for _ in range(2):
        quick.call("book", json.dumps(GOOD[shape]), **SAID)
    return quick, whole


def told(result):
    """Give a result without what differs from call to call."""
    said = result.to_dict() | {"duration_ms": 0}
    if result.confirmation is not None:
        said["confirmation"] = "an id"
    if result.error is not None and result.error.code == "internal_guard_error":
        said["error"] = result.error.code
    return said


names = st.sampled_from(["names", "when", "kind", "count", "other", 'a"b'])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet='a"\\é:,{}'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=2),
    max_leaves=4,
)
pairs = st.lists(st.tuples(names, values), max_size=4)


@st.composite
def texts(draw, shape):
    """Give JSON text near to what fits: keys left out, twice, unknown, written with escapes."""
    fields = list(GOOD[shape].items()) if draw(st.booleans()) else []
    fields += draw(pairs)
    fields = draw(st.permutations(fields))
    escaped = draw(st.booleans())

    def key(name):
        return f'"\\u{ord(name[0]):04x}{json.dumps(name)[2:]}' if escaped else json.dumps(name)

    ascii_only = draw(st.booleans())
    inside = ", ".join(f"{key(n)}: {json.dumps(v, ensure_ascii=ascii_only)}" for n, v in fields)
    return draw(st.sampled_from(["{%s}", "[%s]", "{%s", " {%s } "])) % inside


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_quick_way_gives_what_the_whole_ladder_gives(harness, tool, shape, guard):
    quick, whole = pair(harness, tool, shape, guard)
    assert "book" in quick.door.quick
    assert not whole.door.quick

    @settings(max_examples=60, deadline=None)
    @given(
        text=texts(shape),
        confidence=st.sampled_from([None, 0.9, 0.69, 1, 2.0, True, "0.9", float("nan")]),
        message=st.sampled_from(["", "book it", "rebook", "BOOKED!"]),
        user=st.sampled_from([None, "", "u1"]),
        patient=st.sampled_from([None, "", "p1"]),
    )
    def agree(text, **said):
        assert told(quick.call("book", text, **said)) == told(whole.call("book", text, **said))

    agree()
    good = json.dumps(GOOD[shape])
    assert told(quick.call("book", good, **SAID)) == told(whole.call("book", good, **SAID))


def test_rules_and_conditions_hold_on_the_quick_way_too(harness, tool):
    few = (Rule(expression="count < 4", message="At most three."),)
    door = harness(tool("book", book, *SOME, rules=few, safety=Safety(confirm_when="count > 2")))
    for _ in range(2):
        assert door.call("book", '{"count": 2}').success
    assert "book" in door.door.quick
    assert door.call("book", '{"count": 3}').outcome == "confirm"
    assert door.call("book", '{"count": 4}').error.message == "At most three."


async def straight():
    return 1


async def awaits():
    return await straight()


async def enters(lock):
    async with lock:
        return 1


async def loops():
    return [item async for item in aiter(())]


def test_only_what_has_a_place_to_yield_may_wait():
    assert not may_wait(straight)
    assert all(may_wait(function) for function in (awaits, enters, loops))
    # What makes a coroutine elsewhere tells nothing of it.
    assert may_wait(partial(straight))
    assert may_wait(inspect.getdoc)
