"""The crisis flag: heard in a message or an escalated call, kept for the conversation."""

import asyncio

import pytest
from deciding import approve

from toolmd._store.store import Store
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, SafetySettings, Settings

TEXT = Parameter(name="text", shape=Schema(types=("string",)), required=True)
HERE = {"conversation": "c1", "user": "ana"}


class Clinic:
    """A tool that writes, one that reads, one that escalates and one that is confirmed."""

    def __init__(self, harness, tool, state):
        async def act(text=""):
            return {"text": text}

        safety = {
            "write": Safety(),
            "escalate": Safety(crisis_when="text == 'help'"),
            "ask": Safety(requires_confirmation=True),
        }
        tools = [tool(name, act, TEXT, safety=own) for name, own in safety.items()]
        tools.append(tool("read", act, TEXT, read_only=True))
        self.state, self._harness, self._tools = state, harness, tools

    def open(self, words=("mayday",), store="sqlite", ask=None):
        settings = Settings(root=self.state, state=self.state, audit=AuditSettings(enabled=False),
                            safety=SafetySettings(crisis_words=words))  # fmt: skip
        return self._harness(*self._tools, settings=settings, store=Store(store, self.state),
                             ask_intent=ask)  # fmt: skip


@pytest.fixture
def clinic(harness, tool, tmp_path):
    return Clinic(harness, tool, tmp_path)


def call(desk, name, text="x", **options):
    return desk.call(name, {"text": text}, **options)


def flagged(desk):
    return [(one.conversation, one.user) for one in desk.dispatcher.store.crises.flagged()]


def test_a_crisis_word_holds_what_changes_something_and_lets_reading_pass(clinic):
    desk = clinic.open()
    assert call(desk, "write", message="mayday").outcome == "review"
    read = call(desk, "read", message="mayday")
    assert (read.outcome, read.crisis) == ("ok", True)
    assert not call(desk, "write", message="all is well").crisis


def test_the_flag_stays_with_the_conversation_in_every_process(clinic):
    assert call(clinic.open(), "write", message="mayday", **HERE).crisis
    other = clinic.open()
    later = call(other, "write", **HERE)
    assert (later.outcome, later.crisis) == ("review", True)
    assert call(other, "write", conversation="c1", user="ben").success
    assert call(other, "write", conversation="c2", user="ana").success
    assert flagged(other) == [("c1", "ana")]
    assert other.dispatcher.store.crises.clear("c1", "ana")
    assert not other.dispatcher.store.crises.clear("c1", "ana")
    assert call(other, "write", **HERE).success


def test_a_denied_call_and_an_unreadable_reply_flag_the_conversation(clinic):
    desk = clinic.open()
    denied = call(desk, "write", 1, message="mayday", **HERE)
    assert (denied.outcome, denied.crisis) == ("denied", True)
    caller = Caller("ben", message="mayday", conversation="c2")
    reply = asyncio.run(
        desk.dispatcher.deny(Call("", {}, caller=caller), "malformed_call", "no reply")
    )
    assert reply.crisis
    assert flagged(desk) == [("c1", "ana"), ("c2", "ben")]


def test_an_escalated_call_flags_its_conversation(clinic):
    desk = clinic.open(words=())
    assert call(desk, "escalate", "fine", **HERE).success
    held = call(desk, "escalate", "help", **HERE)
    assert (held.outcome, held.crisis) == ("review", True)
    assert call(clinic.open(words=()), "write", **HERE).outcome == "review"


def test_a_dry_run_flags_no_conversation(clinic):
    desk = clinic.open()
    assert call(desk, "write", message="mayday", dry_run=True, **HERE).crisis
    assert call(desk, "escalate", "help", dry_run=True, **HERE).outcome == "review"
    assert flagged(desk) == []


def test_a_call_that_was_pending_before_the_crisis_goes_to_an_operator(clinic):
    desk = clinic.open()
    pending = call(desk, "ask", **HERE).confirmation.id
    call(desk, "write", message="mayday", **HERE)
    decisions = desk.dispatcher.confirmations
    again = asyncio.run(approve(decisions, pending, user="ana"))
    assert (again.outcome, again.crisis) == ("review", True)
    own = asyncio.run(approve(decisions, again.confirmation.id, user="ana"))
    assert own.error.code == "review_required"
    assert asyncio.run(approve(decisions, again.confirmation.id)).success


def test_the_review_of_a_crisis_is_not_the_yes_of_the_caller(clinic):
    desk = clinic.open()
    held = call(desk, "ask", message="mayday", **HERE)
    decisions, name = desk.dispatcher.confirmations, held.confirmation.id
    reviewed = asyncio.run(approve(decisions, name))
    assert (held.outcome, reviewed.outcome) == ("review", "confirm")
    assert reviewed.confirmation.id == name
    edited = asyncio.run(approve(decisions, name, edit={"text": "y"}, user="ana"))
    assert edited.outcome == "review"
    again = approve(decisions, edited.confirmation.id)
    assert asyncio.run(again).data == {"text": "y"}


def test_a_store_that_can_not_be_used_denies_the_call(clinic):
    desk = clinic.open(store="postgresql://nobody@127.0.0.1:1/none")
    denied = call(desk, "write", **HERE)
    assert (denied.outcome, denied.error.code) == ("denied", "internal_guard_error")
    assert call(desk, "write").success


@pytest.mark.parametrize("message", ["The mayday in that film!", "I can't go on."])
@pytest.mark.parametrize(
    ("answer", "is_crisis"),
    [("clear", True), ("unclear", True), ("absent", False), ("sure", True), (KeyError(), True)],
)
def test_a_judge_replaces_the_crisis_words(clinic, message, answer, is_crisis):
    asked = []

    def ask(kind, wanted, call):
        asked.append((kind, wanted, call.caller.message))
        if isinstance(answer, Exception):
            raise answer
        return [None, answer]

    held = call(clinic.open(ask=ask), "write", message=message, **HERE)
    assert (held.outcome, held.crisis) == (("review", True) if is_crisis else ("ok", False))
    assert asked == [("crisis", ("mayday",), message)]
    assert bool(flagged(clinic.open())) is is_crisis


def test_the_crisis_words_decide_where_no_judge_answers(clinic):
    desk = clinic.open(ask=lambda *_: [None])
    assert call(desk, "write", message="mayday").crisis
    assert not call(desk, "write", message="All is well").crisis


def test_no_judge_is_asked_in_a_project_without_crisis_words(clinic):
    desk = clinic.open(words=(), ask=lambda *_: ["clear"])
    assert not call(desk, "write", message="mayday").crisis
