"""Skills that a model calls as functions run through the same dispatcher."""

import asyncio

from turn_world import chat, inline

SAID = [("say", "a"), ("ask_first", "a")]


def test_an_executable_skill_is_exported_and_can_be_called(world):
    names = {item["function"]["name"] for item in world.workspace.export("openai")}
    assert "greet_twice" in names
    assert "greet_in_prose" not in names
    turn = world.handle(chat(("greet_twice", {"word": "a"})), user="u1")
    (held,) = turn.pending
    assert (turn.results[0].outcome, turn.results[0].tool) == ("confirm", "greet_twice")
    assert (held.tool, held.parameters) == ("ask_first", {"word": "a"})
    assert held.prompt == "Say a again? I'd like to ask first: word: a. Is this correct?"
    assert world.ran == SAID[:1]
    known = asyncio.run(world.workspace.confirmations.get(held.id))
    assert (held.created, held.expires) == (known.created, known.expires)
    assert held.created > 0
    done = asyncio.run(world.workspace.confirmations.approve(held.id, user="u1"))
    assert (done.success, done.tool, done.tool_call_id) == (True, "greet_twice", "call_1")
    assert done.data == {"said": "a"}
    assert world.ran == SAID


def test_a_question_of_a_skill_is_decided_once(world):
    held = world.handle(inline("greet_twice", word="a")).pending[0]

    async def race():
        return await asyncio.gather(
            *(world.workspace.confirmations.approve(held.id) for _ in range(50))
        )

    outcomes = [result.outcome for result in asyncio.run(race())]
    assert outcomes.count("ok") == 1
    assert world.ran == SAID


def test_an_approval_may_change_the_arguments(world):
    held = world.handle(inline("greet_twice", word="a")).pending[0]
    done = asyncio.run(world.workspace.confirmations.approve(held.id, edit={"word": "b"}))
    assert done.success
    assert done.notes == ('The user changed word: "a" → "b".',)
    assert world.ran == [("say", "a"), ("ask_first", "b")]


def test_invalid_inputs_are_reported_one_by_one(world):
    (result,) = world.handle(inline("greet_twice", word="far too long a word")).results
    assert (result.outcome, result.error.code) == ("denied", "invalid_arguments")
    assert [p.path for p in result.error.details] == ["word"]
    assert world.ran == []


def test_two_skills_in_one_reply_ask_two_questions(world):
    turn = world.handle(inline("greet_twice", word="a") + inline("greet_twice", word="b"))
    assert [held.parameters["word"] for held in turn.pending] == ["a", "b"]
    assert len({held.id for held in turn.pending}) == 2
