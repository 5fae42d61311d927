"""An exception in any check denies the call: nothing runs, and the crash stays internal."""

import asyncio
import sqlite3

import pytest
from deciding import approve
from tests.definitions import few

from toolmd._types.call_spec import Limits, Rate, Rule, Safety
from toolmd._types.decision import Decision
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import SafetySettings, Settings
from toolmd._types.verdict import Action, Verdict

WORD = Parameter(name="word", shape=Schema(types=("string",)))
GUARDED = {
    "rules": (Rule(expression="size(word) > 0", message="Give a word."),),
    "safety": Safety(
        min_confidence=0.5,
        explicit_intent=True,
        intent_keywords=("say",),
        crisis_when="word == 'help'",
        confirm_when="word == 'ask'",
    ),
    "limits": Limits(rate=Rate(calls=100, per_s=1), quotas=few(1000)),
}
CALLER = {"confidence": 0.9, "message": "say it", "user": "u1"}


class Broken:
    """A part of the pipeline whose every use raises."""

    def __getattr__(self, name):
        raise RuntimeError("hunter2")

    def __call__(self, *given, **options):
        raise RuntimeError("hunter2")

    def __iter__(self):
        raise RuntimeError("hunter2")

    def __bool__(self):
        return True


def break_clock(world):
    world.clock = Broken()


def break_guard(world):
    world.guard = Broken()


def break_audit(world):
    folder = world.root / "audit"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("not a folder")


def break_confirmations(world):
    store = sqlite3.connect(world.root / "store.sqlite3")
    store.executescript(
        "DROP TABLE IF EXISTS confirmation; CREATE TABLE confirmation (odd TEXT) STRICT"
    )
    store.close()


def break_part(name):
    def broken(world):
        setattr(world.ready, name, Broken())

    return broken


GATES = {
    "the clock": break_clock,
    "a guard": break_guard,
    "the audit": break_audit,
    "the context and the arguments": break_part("_read"),
    "the policy": break_part("_decide"),
    "the limits": break_part("limits"),
}


class World:
    """A guarded tool, what ran of it, and the parts that can break."""

    def __init__(self, harness, tool, root):
        self.root, self.ran = root, []
        self.clock = lambda: 1_000_000.0
        self.guard = lambda _call, _arguments: None

        async def say(word):
            self.ran.append(word)
            return {}

        settings = Settings(root=root, state=root, safety=SafetySettings(crisis_words=("x",)))
        self.harness = harness(
            tool("say", say, WORD, **GUARDED),
            settings=settings,
            clock=self.time,
            guards=lambda _: (self.ask,),
        )
        self.dispatcher = self.harness.dispatcher

    def time(self):
        return self.clock()

    def ask(self, call, arguments):
        return self.guard(call, arguments)

    @property
    def ready(self):
        return self.dispatcher.tools["say"]

    def call(self, word="hello"):
        return self.harness.call("say", {"word": word}, **CALLER)


@pytest.fixture
def world(harness, tool, tmp_path):
    made = World(harness, tool, tmp_path)
    assert made.call().success
    made.ran.clear()
    return made


@pytest.mark.parametrize("gate", GATES)
def test_a_call_behind_a_failing_check_does_not_run(world, gate):
    GATES[gate](world)
    result = world.call()
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    assert "hunter2" not in str(result.to_dict())
    # Calls that wait before the broken check do not run either.
    for word in ("ask", "help"):
        assert not world.call(word).success
    assert world.ran == []


@pytest.mark.parametrize("gate", [*GATES, "the held calls"])
def test_an_approval_behind_a_failing_check_runs_nothing(world, gate):
    held = world.call("ask")
    assert held.outcome == "confirm"
    {**GATES, "the held calls": break_confirmations}[gate](world)
    result = asyncio.run(approve(world.dispatcher.confirmations, held.confirmation.id))
    assert (result.outcome, result.error.code) == ("denied", "internal_guard_error")
    assert world.ran == []


def test_a_call_that_cannot_be_stored_as_pending_does_not_run(world):
    world.call("ask")
    break_confirmations(world)
    assert world.call("ask").error.code == "internal_guard_error"
    assert world.ran == []


@pytest.mark.parametrize("decision", [Decision.reject(), Decision.respond("no")])
def test_a_decision_that_cannot_be_stored_is_denied(world, decision):
    held = world.call("ask")
    break_confirmations(world)
    result = asyncio.run(world.dispatcher.confirmations.decide(held.confirmation.id, decision))
    assert result.error.code == "internal_guard_error"


def test_guards_that_cannot_be_loaded_deny_every_call(harness, tool, tmp_path):
    dispatcher = harness(tool("say", lambda word: None, WORD), guards=Broken())
    assert dispatcher.call("say", {"word": "a"}).error.code == "internal_guard_error"


def test_a_guard_that_allows_with_a_reason_allows_the_call(world):
    world.guard = lambda _call, _arguments: Verdict(Action.ALLOW, "fine", "Why not?")
    assert world.call().success
    assert world.ran == ["hello"]
