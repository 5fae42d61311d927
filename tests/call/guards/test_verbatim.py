"""Verbatim values must be the user's own words, however deep they stand."""

from pathlib import Path

import pytest

from toolmd import Action, Call, Caller, not_stated
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

SAID = Schema(types=("string",), verbatim=True)
FREE = Schema(types=("string",))


def object_of(**shapes):
    return Schema(
        types=("object",),
        properties=tuple(Parameter(name=name, shape=shape) for name, shape in shapes.items()),
    )


def list_of(shape):
    return Schema(types=("array",), items=shape)


def map_of(shape):
    return Schema(types=("object",), values=shape)


CASES = {
    "a value": (SAID, "no", "x"),
    "a list": (list_of(SAID), ["yes", "no", "no"], "x[1] x[2]"),
    "a list of lists": (list_of(list_of(SAID)), [["no"], ["yes", "no"]], "x[0][0] x[1][1]"),
    "a field": (object_of(a=SAID, b=FREE), {"a": "no", "b": "no"}, "x.a"),
    "a field that is absent": (object_of(a=SAID, b=FREE), {"b": "no"}, ""),
    "a map": (map_of(SAID), {"k": "no", "l": "yes"}, "x.k"),
    "a map of lists": (map_of(list_of(SAID)), {"k": ["yes", "no"]}, "x.k[1]"),
    "a whole list": (Schema(types=("array",), verbatim=True), ["yes", "no"], "x"),
    "a whole object": (Schema(types=("object",), verbatim=True), {"k": "no"}, "x"),
    "a text where a list may be": (Schema(types=("string", "array"), items=SAID), "no", ""),
    "a list of anything": (object_of(a=Schema(types=("array",)), b=SAID), {"a": ["no"]}, ""),
    "an open object": (object_of(a=Schema(types=("object",)), b=SAID), {"a": {"k": "no"}}, ""),
}


@pytest.fixture
def told(harness, tool):
    """Give the paths of what was not said, of a call with `value` in a message that says "yes"."""

    def tell(shape, arguments):
        other = Parameter(name="y", shape=FREE)
        made = tool("log", lambda **_: {}, Parameter(name="x", shape=shape), other)
        dispatcher = harness(
            made, settings=Settings(root=Path.cwd(), audit=AuditSettings(enabled=False))
        )
        error = dispatcher.call("log", arguments, message="Yes!", dry_run=True).error
        if error is None:
            return []
        assert error.code == "not_stated_by_user"
        assert all(problem.code == error.code for problem in error.details)
        assert all(problem.path in error.message for problem in error.details)
        return [problem.path for problem in error.details]

    return tell


@pytest.mark.parametrize("case", CASES)
def test_a_verbatim_value_outside_the_users_words_is_named_by_its_path(told, case):
    shape, value, paths = CASES[case]
    assert told(shape, {"x": value}) == paths.split()


def test_an_absent_verbatim_value_passes(told):
    assert told(SAID, {}) == []
    assert told(SAID, {"y": "no"}) == []


def test_a_guard_of_its_own_can_require_the_users_words():
    def verdict(message):
        return not_stated(Call("log", {}, caller=Caller(message=message)), "x.a", "milk")

    assert verdict("I took milk") is None
    denied, unsure = verdict("I took bread"), verdict("What if I took milk?")
    assert (denied.action, unsure.action) == (Action.DENY, Action.CONFIRM)
    for one in (denied, unsure):
        assert [(p.code, p.path) for p in one.details] == [("not_stated_by_user", "x.a")]


def test_one_value_that_was_not_said_denies_the_call_beside_one_that_is_uncertain(harness, tool):
    made = tool("log", lambda **_: {}, *(Parameter(name=name, shape=SAID) for name in ("x", "y")))
    dispatcher = harness(made)

    def outcome(**arguments):
        return dispatcher.call("log", arguments, message="What if I took milk?").outcome

    assert outcome(x="milk") == "confirm"
    assert outcome(x="milk", y="bread") == outcome(x="bread", y="milk") == "denied"


def test_a_tool_that_a_person_confirms_is_never_denied_for_words(harness, tool):
    made = tool("log", lambda **_: {}, Parameter(name="x", shape=SAID),
                safety=Safety(requires_confirmation=True))  # fmt: skip
    result = harness(made).call("log", {"x": "milk"}, message="I took bread")
    assert result.outcome == "confirm"
    assert "x: milk. You said: “I took bread”." in result.confirmation.prompt
