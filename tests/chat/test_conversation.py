"""A conversation over real HTTP with the real SDK: words, calls, results, bounds."""

import asyncio
import json

import pytest
from nursery import DEFINITIONS

from toolmd import Conversation, ToolmdError
from toolmd.hooks import hookimpl
from toolmd.testing import ModelServer, asking, memory_workspace


def tool_messages(request) -> list[dict]:
    return [
        json.loads(message["content"])
        for message in request["messages"]
        if message["role"] == "tool"
    ]


def test_a_model_that_answers_is_asked_once(nursery) -> None:
    with ModelServer("Good morning!") as server:
        (exchange,) = nursery.talk(server, "Hello", system="Be brief.")
    assert exchange.text == "Good morning!"
    assert exchange.said == ("Good morning!",)
    assert (exchange.rounds, exchange.stopped, exchange.results) == (1, "", ())
    (request,) = server.heard
    assert request["model"] == "scripted"
    assert request["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]
    assert server.keys == ["Bearer sk-secret"]


def test_the_tools_are_those_of_the_export(nursery) -> None:
    with ModelServer("Hi") as server:
        nursery.talk(server, "Hello")
    assert server.heard[0]["tools"] == nursery.workspace.export("openai")


def test_calls_run_and_their_results_go_back_until_the_model_answers(nursery) -> None:
    first = asking(("look_up", {"plant": "fern"}), text="Let me look.")
    second = asking(("water", {"plant": "fern", "litres": 2}))
    with ModelServer(first, second, "Done.") as server:
        (exchange,) = nursery.talk(server, "Water the fern")
    assert nursery.garden.done == [("water", "fern", 2)]
    assert exchange.text == "Done."
    assert exchange.said == ("Let me look.", "Done.")
    assert [result.tool for result in exchange.results] == ["look_up", "water"]
    assert exchange.rounds == 3

    roles = [message["role"] for message in server.heard[2]["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool"]
    looked, watered = tool_messages(server.heard[2])
    assert looked["data"] == {"plant": "fern", "height_m": 3}
    assert watered["message"] == "fern has 2 l"
    assistant = server.heard[1]["messages"][1]
    assert assistant["content"] == "Let me look."
    assert assistant["tool_calls"][0]["id"] == server.heard[1]["messages"][2]["tool_call_id"]


def test_parallel_calls_are_answered_in_their_order(nursery) -> None:
    calls = asking(*(("look_up", {"plant": plant}) for plant in ("fern", "moss", "ivy")))
    with ModelServer(calls, "Three.") as server:
        (exchange,) = nursery.talk(server, "Which are there?")
    assert [result.data["plant"] for result in exchange.results] == ["fern", "moss", "ivy"]
    answered = [m["tool_call_id"] for m in server.heard[1]["messages"] if m["role"] == "tool"]
    assert answered == ["call_1", "call_2", "call_3"]


def test_the_history_is_kept(nursery) -> None:
    with ModelServer("I am Flora.", "Flora.") as server:
        nursery.talk(server, "Who are you?", "Again?")
    assert [message["content"] for message in server.heard[1]["messages"]] == [
        "Who are you?",
        "I am Flora.",
        "Again?",
    ]


def test_a_history_can_be_brought_along(nursery, client_of) -> None:
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    with (
        ModelServer("Fine.") as server,
        Conversation(nursery.workspace, model="m", client=client_of(server)) as talk,
    ):
        talk.messages += history
        talk.say_sync("How are you?")
    assert [m["content"] for m in server.heard[0]["messages"]] == ["Hi", "Hello", "How are you?"]


def test_a_denied_call_is_reported_and_can_be_corrected(nursery) -> None:
    wrong = asking(("water", {"plant": "fern", "litres": "two"}))
    right = asking(("water", {"plant": "fern", "litres": 2}))
    with ModelServer(wrong, right, "Done.") as server:
        (exchange,) = nursery.talk(server, "Water the fern")
    assert [result.outcome for result in exchange.results] == ["denied", "ok"]
    assert tool_messages(server.heard[1])[0]["error"]["code"] == "invalid_arguments"
    assert nursery.garden.done == [("water", "fern", 2)]


def test_an_unknown_tool_is_reported(nursery) -> None:
    with ModelServer(asking(("watr", {})), "Sorry.") as server:
        (exchange,) = nursery.talk(server, "Water the fern")
    assert exchange.results[0].error.code == "unknown_tool"
    assert "water" in tool_messages(server.heard[1])[0]["error"]["message"]


BROKEN = asking(("water", '{"plant": "fern", "litres": '), text="At once.")


def test_unreadable_calls_are_reported_and_can_be_corrected(nursery) -> None:
    right = asking(("water", {"plant": "fern", "litres": 2}))
    with ModelServer(BROKEN, right, "Done.") as server:
        (exchange,) = nursery.talk(server, "Water the fern")
    assert exchange.text == "Done."
    assert nursery.garden.done == [("water", "fern", 2)]
    # Many endpoints reject broken JSON in the history.
    words, told = server.heard[1]["messages"][1:]
    assert words == {"role": "assistant", "content": "At once."}
    assert told["role"] == "user"
    assert json.loads(told["content"])["error"]["code"] == "malformed_call"


def test_one_unreadable_call_rejects_the_whole_reply(nursery) -> None:
    half = asking(("water", {"plant": "fern", "litres": 2}), ("look_up", "{"))
    with ModelServer(half, "Sorry.") as server:
        nursery.talk(server, "Water the fern")
    assert nursery.garden.done == []


def test_a_model_that_does_not_repair_its_calls_ends_the_exchange(nursery) -> None:
    with ModelServer(BROKEN, BROKEN, BROKEN, "never said") as server:
        (exchange,) = nursery.talk(server, "Water the fern")
    assert (exchange.stopped, exchange.rounds, exchange.text) == ("malformed", 3, "")
    assert len(server.heard) == 3


def test_malformed_calls_between_valid_ones_are_bounded(nursery) -> None:
    good = asking(("look_up", {"plant": "fern"}))
    with ModelServer(BROKEN, BROKEN, good, BROKEN, BROKEN, good, "Done.") as server:
        (exchange,) = nursery.talk(server, "Look")
    assert exchange.text == "Done."
    assert len(server.heard) == 7


def test_rounds_are_bounded_and_the_last_one_may_not_call(nursery) -> None:
    again = asking(("look_up", {"plant": "fern"}))
    with ModelServer(again, again, again, "never said") as server:
        (exchange,) = nursery.talk(server, "Look", max_rounds=3)
    assert (exchange.stopped, exchange.rounds) == ("rounds", 3)
    assert len(exchange.results) == 2
    assert [request.get("tool_choice") for request in server.heard] == ["auto", "auto", "none"]


def test_calls_are_bounded(nursery) -> None:
    three = asking(*(("water", {"plant": "fern", "litres": n}) for n in (1, 2, 3)))
    with ModelServer(three, three, "never said") as server:
        (exchange,) = nursery.talk(server, "Water it well", max_calls=5)
    assert exchange.stopped == "calls"
    assert len(nursery.garden.done) == 3


def test_at_the_bound_of_calls_the_model_must_answer_in_words(nursery) -> None:
    two = asking(*(("look_up", {"plant": "fern"}) for _ in range(2)))
    with ModelServer(two, "Two it is.") as server:
        (exchange,) = nursery.talk(server, "Look twice", max_calls=2)
    assert (exchange.text, exchange.stopped) == ("Two it is.", "")
    assert server.heard[1]["tool_choice"] == "none"


def test_after_a_bound_the_conversation_goes_on(nursery) -> None:
    again = asking(("look_up", {"plant": "fern"}), text="Looking.")
    with ModelServer(again, again, "Fine.") as server:
        stopped, fine = nursery.talk(server, "Look", "Enough", max_rounds=2)
    assert (stopped.stopped, fine.text) == ("rounds", "Fine.")
    history = server.heard[2]["messages"]
    asked = [call["id"] for m in history for call in m.get("tool_calls", ())]
    answered = [m["tool_call_id"] for m in history if m["role"] == "tool"]
    assert asked == answered == ["call_1"]


@pytest.mark.parametrize("ids", [[None, None], ["", ""], ["same", "same"], ["call_2", None]])
def test_calls_without_ids_of_their_own_get_some(nursery, ids: list[str | None]) -> None:
    calls = asking(*(("look_up", {"plant": plant}) for plant in ("fern", "moss")))
    for call, name in zip(calls["tool_calls"], ids, strict=True):
        call["id"] = name
        if name is None:
            del call["id"]
    with ModelServer(calls, "Two.") as server:
        nursery.talk(server, "Look")
    assistant, *told = server.heard[1]["messages"][1:]
    given = [call["id"] for call in assistant["tool_calls"]]
    assert len(set(given)) == 2
    assert [message["tool_call_id"] for message in told] == given
    assert [json.loads(m["content"])["data"]["plant"] for m in told] == ["fern", "moss"]


def test_a_call_that_stands_twice_runs_once(nursery) -> None:
    calls = asking(("look_up", {"plant": "fern"}))
    calls["tool_calls"] *= 2
    with ModelServer(calls, "One.") as server:
        (exchange,) = nursery.talk(server, "Look")
    assert len(exchange.results) == 1
    assert [m["role"] for m in server.heard[1]["messages"]] == ["user", "assistant", "tool"]


def test_an_answer_that_was_cut_says_so(nursery) -> None:
    cut = {"message": {"role": "assistant", "content": "It is"}, "finish_reason": "length"}
    with ModelServer(cut) as server:
        (exchange,) = nursery.talk(server, "Tell")
    assert (exchange.text, exchange.stopped) == ("It is", "length")


def test_a_truncated_call_is_not_run(nursery) -> None:
    message = asking(("water", {"plant": "fern", "litres": 2}))
    cut = {"message": message, "finish_reason": "length"}
    with ModelServer(cut, "Sorry.") as server:
        nursery.talk(server, "Water the fern")
    assert nursery.garden.done == []


def test_a_model_without_text_returns_an_empty_text(nursery) -> None:
    silent = {"role": "assistant", "content": None}
    with ModelServer(silent, "Here.") as server:
        nothing, _ = nursery.talk(server, "Hm", "There?")
    assert (nothing.text, nothing.said, nothing.stopped) == ("", (), "")
    assert [m["role"] for m in server.heard[1]["messages"]] == ["user", "user"]


def test_calls_are_of_the_user_that_the_host_names(make_nursery) -> None:
    seen = []

    def guard(call, _arguments):
        seen.append((call.caller.user, call.caller.context.get("patient"), call.caller.message))

    nursery = make_nursery(plugins={"guard": _GuardPlugin(guard)})
    with ModelServer(asking(("look_up", {"plant": "fern"})), "Done.") as server:
        nursery.talk(server, "Look it up", user="u1", context={"patient": "p1"})
    assert seen == [("u1", "p1", "Look it up")]


class _GuardPlugin:
    def __init__(self, guard) -> None:
        self.toolmd_guards = hookimpl(lambda spec: [guard])


def test_the_users_request_stays_valid_over_a_question_back(nursery) -> None:
    ask = asking(("remind", {"time": "9:00"}))
    with ModelServer("At what time?", ask, "Set.", ask, "Say that you want it.") as server:
        nursery.talk(server, "Remind me to water the fern", "At nine", "And what else?")
    assert nursery.garden.done == [("remind", "9:00")]
    refused = tool_messages(server.heard[4])[-1]
    assert refused["error"]["code"] == "no_explicit_intent"


def test_a_reading_call_does_not_use_up_the_users_request(nursery) -> None:
    look, ask = asking(("look_up", {"plant": "fern"})), asking(("remind", {"time": "9:00"}))
    with ModelServer(look, "At what time?", ask, "Set.") as server:
        nursery.talk(server, "Remind me of the fern", "At nine")
    assert nursery.garden.done == [("remind", "9:00")]


def test_a_crisis_word_flags_the_exchange_with_or_without_calls(make_nursery) -> None:
    nursery = make_nursery(**{"safety.crisis_words": ["dying"]})
    held = asking(("water", {"plant": "fern", "litres": 2}))
    with ModelServer("Call a doctor.", held, "Somebody will look.", held, "Done.") as server:
        worded, called, after = nursery.talk(server, "I am dying", "I am dying!", "Water it")
    assert worded.crisis
    assert called.crisis
    assert called.results[0].outcome == "review"
    assert [held.kind for held in called.pending] == ["review"]
    assert after.results[0].outcome == "review"
    assert after.crisis
    assert nursery.garden.done == []
    (crisis,) = nursery.workspace.crises.list_sync()
    nursery.workspace.crises.clear_sync(crisis.conversation)


def test_words_are_streamed_and_calls_put_together(nursery) -> None:
    heard: list[str] = []
    calls = asking(
        ("look_up", {"plant": "fern"}),
        ("water", {"plant": "fern", "litres": 2}),
        text="One moment.",
    )
    with ModelServer(calls, "All is well.") as server:
        (exchange,) = nursery.talk(server, "Water", stream=True, on_text=heard.append)
    assert heard == ["One ", "moment.", "All ", "is ", "well."]
    assert exchange.said == ("One moment.", "All is well.")
    assert nursery.garden.done == [("water", "fern", 2)]
    assert server.heard[0]["stream"] is True
    assert server.heard[1]["messages"][1]["tool_calls"] == calls["tool_calls"]


def test_listeners_receive_text_and_results_as_they_come(nursery) -> None:
    heard = []
    calls = asking(("look_up", {"plant": "fern"}), text="One moment.")
    with ModelServer(calls, "Three metres.") as server:
        nursery.talk(
            server,
            "How high?",
            on_text=heard.append,
            on_result=lambda result: heard.append(result.tool),
        )
    assert heard == ["One moment.", "look_up", "Three metres."]


@pytest.mark.parametrize(
    ("dialect", "reply"),
    [
        ("inline", ('[TOOL_CALL:{"id":"1","tool":"look_up","parameters":{"plant":"fern"},'
                   '"confidence":0.9}] Let me see.')),
        ("action", 'Let me see.\nAction: {"tool": "look_up", "args": {"plant": "fern"}}'),
        ("plan", ('{"calls": [{"tool": "look_up", "params": {"plant": "fern"}}],'
                 ' "budget": {"rows": 5, "bytes": 1000, "timeout_ms": 1000}}')),
    ],
)  # fmt: skip
def test_a_model_without_tool_calls_speaks_in_words(nursery, dialect: str, reply: str) -> None:
    with ModelServer(reply, "Three metres.") as server:
        (exchange,) = nursery.talk(server, "How high?", dialect=dialect, system="Be brief.")
    assert exchange.text == "Three metres."
    assert [result.outcome for result in exchange.results] == ["ok"]
    first, second = server.heard
    assert "tools" not in first
    assert first["messages"][0]["content"].startswith("Be brief.\n\n# Tools")
    assert second["messages"][2] == {"role": "assistant", "content": reply}
    assert second["messages"][3]["role"] == "user"
    assert "height_m" in second["messages"][3]["content"]


def test_a_malformed_call_in_text_is_reported(nursery) -> None:
    wrong = '[TOOL_CALL:{"tool":"water"'
    right = ('[TOOL_CALL:{"id":"1","tool":"water","parameters":{"plant":"fern","litres":1},'
             '"confidence":0.9}]')  # fmt: skip
    with ModelServer(wrong, right, "Done.") as server:
        (exchange,) = nursery.talk(server, "Water", dialect="inline")
    assert exchange.text == "Done."
    assert [m["role"] for m in server.heard[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert "malformed_call" in server.heard[1]["messages"][3]["content"]


def test_a_program_that_can_not_await_talks_too(nursery, client_of) -> None:
    with (
        ModelServer(asking(("look_up", {"plant": "fern"})), "It is tall.", "Hi") as server,
        Conversation(nursery.workspace, model="m", client=client_of(server)) as talk,
    ):
        looked = talk.say_sync("How tall is the fern?")
        greeted = talk.say_sync("Hello")

    assert [result.tool for result in looked.results] == ["look_up"]
    assert (looked.text, greeted.text) == ("It is tall.", "Hi")


def test_the_export_follows_a_reload(nursery, client_of) -> None:
    async def twice() -> None:
        async with Conversation(nursery.workspace, model="m", client=client_of(server)) as talk:
            await talk.say("Hello")
            folder = nursery.workspace.settings.root / "definitions"
            (folder / "water.tool.md").unlink()
            nursery.workspace.reload()
            await talk.say("Hello again")

    with ModelServer("Hi", "Hi") as server:
        asyncio.run(twice())
    before, after = (
        {tool["function"]["name"] for tool in request["tools"]} for request in server.heard
    )
    assert before - after == {"water"}


def test_an_interrupted_call_is_reported_with_the_next_message(client_of) -> None:
    """A model must not repeat calls that ran before Ctrl-C."""
    began = asyncio.Event()

    async def water(plant: str, litres: int) -> dict[str, int]:
        began.set()
        await asyncio.Event().wait()

    async def stop() -> None:
        async with Conversation(workspace, model="m", client=client_of(server)) as talk:
            saying = asyncio.ensure_future(talk.say("Water the fern"))
            await began.wait()
            saying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await saying
            assert (await talk.say("Did it work?")).text == "I don't know."

    definition = {"water.tool.md": DEFINITIONS["water.tool.md"]}
    call = asking(("water", {"plant": "fern", "litres": 2}))
    with (
        memory_workspace(definition, [water]) as workspace,
        ModelServer(call, "I don't know.") as server,
    ):
        asyncio.run(stop())
    roles = [message["role"] for message in server.heard[1]["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]
    (told,) = tool_messages(server.heard[1])
    assert (told["outcome"], told["error"]["code"]) == ("unknown", "interrupted")


def test_one_thing_is_said_at_a_time(nursery, client_of) -> None:
    async def both() -> None:
        async with Conversation(nursery.workspace, model="m", client=client_of(server)) as talk:
            first = asyncio.ensure_future(talk.say("One"))
            await asyncio.sleep(0)
            with pytest.raises(ToolmdError, match="await"):
                await talk.say("Two")
            assert (await first).text == "One it is."

    with ModelServer("One it is.") as server:
        asyncio.run(both())
