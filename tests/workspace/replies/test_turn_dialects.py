"""Dialects of plugins have the same limits, and their failures run nothing."""

import json

import pytest
from turn_world import World

from toolmd import Call, Caller, Dialect, Parsed, hookimpl
from toolmd.errors import MalformedReplyError


def said_of_plugins(world):
    return [d for d in world.workspace.diagnostics if d.code == "broken-plugin"]


class Shouting:
    """A dialect in which a model shouts the word to say."""

    def __init__(self, parse=None, render=None, name="shout"):
        made = Dialect(name, parse or self.parse, render or self.render)
        self.given = [made]

    @hookimpl
    def toolmd_dialects(self):
        return self.given

    def parse(self, reply):
        calls = tuple(Call("say", {"word": word}) for word in reply.split() if word.isupper())
        return Parsed("", calls, "shout")

    def render(self, results):
        return [{"role": "user", "content": json.dumps([r.success for r in results])}]


@pytest.fixture
def with_plugin(open_world):
    def make(plugin, **overrides) -> World:
        return open_world(plugins={"shouting": plugin}, **overrides)

    return make


def test_a_plugins_dialect_is_spoken_by_its_name(with_plugin):
    world = with_plugin(Shouting())
    turn = world.handle("say HELLO and GOODBYE", "shout")
    assert [r.data["said"] for r in turn.results] == ["HELLO", "GOODBYE"]
    assert turn.messages == [{"role": "user", "content": "[true, true]"}]


@pytest.mark.parametrize(
    "reply",
    ["say HELLO", b"say HELLO", b"\xef\xbb\xbfsay HELLO"],
    ids=["text", "bytes", "with a BOM"],
)
def test_a_plugins_dialect_gets_text_and_names_the_turn(with_plugin, reply):
    given = []

    def parse(text):
        given.append(text)
        return Parsed("say", (Call("say", {"word": "HELLO"}),))

    turn = with_plugin(Shouting(parse=parse)).handle(reply, "shout")
    assert given == ["say HELLO"]
    assert (turn.dialect, turn.clean_message) == ("shout", "say")


def test_a_reply_in_a_plugins_dialect_that_is_not_utf_8_is_malformed(with_plugin):
    (result,) = with_plugin(Shouting()).handle(b"say HELLO \xff", "shout").results
    assert result.error.code == "malformed_call"


def test_a_call_of_a_plugins_dialect_cannot_set_its_caller(with_plugin):
    forged = Call(
        "ask_first", {"word": "a"}, caller=Caller("root", {"patient": "p"}), key="mine", depth=-9
    )
    world = with_plugin(Shouting(parse=lambda _: Parsed("", (forged,), "shout")))
    world.handle("x", "shout", user="u1")
    (held,) = world.workspace.confirmations.pending_sync()
    assert (held.call.caller.user, held.call.key, held.call.depth) == ("u1", None, 0)


def test_null_of_an_optional_argument_counts_as_missing_in_every_dialect(with_plugin):
    plugin = Shouting()
    nulls = Call("travel", {"trip": {"to": "Rome", "by": None}, "stops": None})
    parsed = Parsed("", (nulls,), "nulls")
    plugin.given = [Dialect("nulls", lambda _: parsed, plugin.render)]
    world = with_plugin(plugin)
    (result,) = world.handle("x", "nulls").results
    assert result.success
    assert result.notes == ("null counts as missing: trip.by, stops",)


def crash(_):
    raise RuntimeError("hunter2")


@pytest.mark.parametrize(
    "parse",
    [
        crash,
        lambda _: None,
        lambda _: Parsed("", ("say",), "shout"),
        lambda _: [Call("say", {"word": "a"})],
    ],
    ids=["crash", "nothing", "words", "a list"],
)
def test_a_dialect_that_raises_or_returns_an_invalid_value_runs_nothing(with_plugin, parse):
    world = with_plugin(Shouting(parse=parse))
    turn = world.handle("x", "shout")
    (result,) = turn.results
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    assert "hunter2" not in json.dumps(turn.to_dict())
    assert world.ran == []


def reject(_):
    raise MalformedReplyError("too quiet", clean_message="psst")


@pytest.mark.parametrize(
    ("reply", "parse"),
    [
        ("x" * 262_145, None),
        ("x", lambda _: Parsed("", (Call("say", {"word": "a"}),) * 33, "shout")),
        ("x", lambda _: Parsed("", (Call("say", {"word": "a"}, confidence=2),), "shout")),
        ("x", lambda _: Parsed("", (Call("say", {"word": "a"}, confidence=True),), "shout")),
        ("x", reject),
    ],
    ids=["size", "calls", "confidence", "true", "its own"],
)
def test_a_plugins_dialect_keeps_the_limits_of_every_reply(with_plugin, reply, parse):
    world = with_plugin(Shouting(parse=parse))
    assert [r.error.code for r in world.handle(reply, "shout").results] == ["malformed_call"]
    assert world.ran == []


def test_results_are_rendered_even_if_the_dialect_fails_to_render(with_plugin):
    world = with_plugin(Shouting(render=crash))
    turn = world.handle("HELLO", "shout")
    assert turn.messages[0]["role"] == "tool"
    assert world.ran == [("say", "HELLO")]


def test_a_dialect_with_a_used_name_is_omitted_with_a_diagnostic(with_plugin):
    world = with_plugin(Shouting(name="inline"))
    found = said_of_plugins(world)[0]
    assert "'inline'" in found.message
    assert world.handle("HELLO", "inline").results == ()


@pytest.mark.parametrize("given", [["shout"], 7, [None]], ids=["a word", "a number", "none"])
def test_an_invalid_dialect_is_omitted_with_a_diagnostic(with_plugin, given):
    plugin = Shouting()
    plugin.given = given
    world = with_plugin(plugin)
    assert len(said_of_plugins(world)) == 1
    assert world.handle("HELLO").results == ()
