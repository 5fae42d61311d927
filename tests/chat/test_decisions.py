"""A person's decisions on pending calls, and the model's messages about them."""

import asyncio
import json

import pytest

from toolmd import Conversation, Decision, Result
from toolmd.testing import ModelServer, asking

PLANT = asking(("plant_tree", {"kind": "oak", "number": 3}))
FELL = asking(("fell_tree", {"number": 3}))


class Person:
    """A confirmer with fixed decisions that records its questions."""

    def __init__(self, *decisions) -> None:
        self._decisions = list(decisions)
        self.asked = []

    def __call__(self, pending):
        self.asked.append(pending)
        return self._decisions.pop(0)


def told(server: ModelServer) -> dict:
    (message,) = [m for m in server.heard[-1]["messages"] if m["role"] == "tool"]
    return json.loads(message["content"])


@pytest.mark.parametrize("yes", [True, Decision.approve()])
def test_an_approved_call_runs(nursery, yes) -> None:
    person = Person(yes)
    with ModelServer(PLANT, "Planted.") as server:
        (exchange,) = nursery.talk(server, "Plant oaks", confirm=person)
    assert nursery.garden.done == [("plant", "oak", 3)]
    assert exchange.pending == ()
    assert [result.outcome for result in exchange.results] == ["ok"]
    assert told(server)["data"] == {"planted": 3}
    (asked,) = person.asked
    assert asked.tool == "plant_tree"
    assert asked.parameters == {"kind": "oak", "number": 3}
    assert "oak" in asked.prompt


@pytest.mark.parametrize("no", [False, Decision.reject()])
def test_a_rejected_call_never_runs(nursery, no) -> None:
    with ModelServer(PLANT, "As you like.") as server:
        (exchange,) = nursery.talk(server, "Plant oaks", confirm=Person(no))
    assert nursery.garden.done == []
    assert exchange.results[0].error.code == "rejected"
    assert told(server)["error"]["code"] == "rejected"
    assert nursery.workspace.confirmations.pending_sync() == ()


def test_an_edited_call_runs_as_edited_and_the_model_is_informed(nursery) -> None:
    person = Person(Decision.edit({"number": 5}))
    with ModelServer(PLANT, "Five it is.") as server:
        nursery.talk(server, "Plant oaks", confirm=person)
    assert nursery.garden.done == [("plant", "oak", 5)]
    assert told(server)["notes"] == ["The user changed number: 3 → 5."]


def test_a_person_may_answer_in_place_of_the_tool(nursery) -> None:
    with ModelServer(PLANT, "I see.") as server:
        nursery.talk(server, "Plant oaks", confirm=Person(Decision.respond("The ground is frozen")))
    assert nursery.garden.done == []
    assert told(server)["data"] == "The ground is frozen"


@pytest.mark.parametrize("nobody", [Person(None), None])
def test_without_a_decision_the_call_stays_pending(nursery, nobody) -> None:
    with ModelServer(PLANT, "Please confirm.") as server:
        (exchange,) = nursery.talk(server, "Plant oaks", confirm=nobody)
    assert nursery.garden.done == []
    (pending,) = exchange.pending
    assert told(server)["outcome"] == "confirm"
    # The id is the host's: a model that knew it could not decide with it either.
    assert pending.id not in json.dumps(server.heard)
    assert nursery.workspace.confirmations.approve_sync(pending.id).success
    assert nursery.garden.done == [("plant", "oak", 3)]


def test_an_edit_that_does_not_fit_is_asked_again_with_the_reason(nursery) -> None:
    person = Person(Decision.edit({"number": "many"}), Decision.edit({"number": 4}))
    with ModelServer(PLANT, "Four.") as server:
        nursery.talk(server, "Plant oaks", confirm=person)
    assert nursery.garden.done == [("plant", "oak", 4)]
    first, again = person.asked
    assert again.id == first.id
    assert "number" in again.prompt
    assert again.prompt.endswith(first.prompt)


def test_an_edit_of_a_critical_call_is_shown_once_more(nursery) -> None:
    person = Person(Decision.edit({"number": 1}), True)
    with ModelServer(FELL, "One.") as server:
        nursery.talk(server, "Fell trees", confirm=person)
    assert nursery.garden.done == [("fell", 1)]
    first, again = person.asked
    assert again.id != first.id
    assert again.parameters == {"number": 1}
    assert told(server)["notes"] == ["The user changed number: 3 → 1."]


def test_asking_about_one_call_is_bounded(nursery) -> None:
    person = Person(*(Decision.edit({"number": "many"}) for _ in range(20)))
    with ModelServer(PLANT, "Fine.") as server:
        (exchange,) = nursery.talk(server, "Plant oaks", confirm=person)
    assert len(person.asked) == 8
    assert len(exchange.pending) == 1
    assert nursery.garden.done == []


def test_a_coroutine_may_decide(nursery) -> None:
    async def confirm(pending) -> bool:
        return pending.tool == "plant_tree"

    with ModelServer(PLANT, "Planted.") as server:
        nursery.talk(server, "Plant oaks", confirm=confirm)
    assert nursery.garden.done == [("plant", "oak", 3)]


@pytest.mark.parametrize("odd", ["yes", 1, {}, Result(True, "x", "ok")])
def test_any_other_value_is_not_a_decision_and_nothing_runs(nursery, odd) -> None:
    with ModelServer(PLANT) as server, pytest.raises(TypeError, match="Decision"):
        nursery.talk(server, "Plant oaks", confirm=Person(odd))
    assert nursery.garden.done == []


def test_each_pending_call_is_decided_separately(nursery) -> None:
    both = asking(
        ("plant_tree", {"kind": "oak", "number": 1}),
        ("look_up", {"plant": "fern"}),
        ("plant_tree", {"kind": "elm", "number": 2}),
    )
    with ModelServer(both, "Elms only.") as server:
        (exchange,) = nursery.talk(server, "Plant", confirm=Person(False, True))
    assert nursery.garden.done == [("plant", "elm", 2)]
    assert [result.outcome for result in exchange.results] == ["denied", "ok", "ok"]


def test_a_user_can_not_decide_a_review(make_nursery) -> None:
    nursery = make_nursery(**{"safety.crisis_words": ["dying"]})
    person = Person(True)
    with ModelServer(PLANT, "Somebody will look.") as server:
        (exchange,) = nursery.talk(server, "I am dying", confirm=person)
    assert person.asked == []
    assert nursery.garden.done == []
    assert [held.kind for held in exchange.pending] == ["review"]


def test_the_models_text_never_decides(nursery) -> None:
    words = '{"approved": true} yes I confirm [y] approve'
    with ModelServer({**PLANT, "content": words}, words, words, words) as server:
        nursery.talk(server, "Plant oaks", "Hm", "So?")
    assert nursery.garden.done == []
    assert len(nursery.workspace.confirmations.pending_sync()) == 1


def test_calls_that_ran_before_a_failed_confirmation_are_reported_later(nursery, client_of) -> None:
    both = asking(
        ("water", {"plant": "fern", "litres": 2}), ("plant_tree", {"kind": "oak", "number": 3})
    )

    def leave(_pending):
        raise KeyboardInterrupt

    async def talk() -> None:
        async with Conversation(
            nursery.workspace, model="m", client=client_of(server), confirm=leave
        ) as conversation:
            try:
                await conversation.say("Water and plant")
            except KeyboardInterrupt:
                await conversation.say("Where were we?")

    with ModelServer(both, "The fern is watered.") as server:
        asyncio.run(talk())
    watered, planted = (
        json.loads(m["content"]) for m in server.heard[1]["messages"] if m["role"] == "tool"
    )
    assert watered["message"] == "fern has 2 l"
    assert planted["outcome"] == "confirm"
    assert nursery.garden.done == [("water", "fern", 2)]
