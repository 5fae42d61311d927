"""A model's whole reply: its words, its results, what waits, and what goes back."""

import asyncio
import json

import pytest
from turn_world import chat, inline, tool, tool_use

from toolmd import Call
from toolmd.errors import NotFoundError, ToolmdError


def test_a_reply_returns_its_text_and_its_results_in_order(world):
    reply = f"First {inline('say', word='a')} then {inline('fail', word='b')}" + inline(
        "say", word="c"
    )
    turn = world.handle(reply)
    assert turn.clean_message == "First then"
    assert [(r.tool_call_id, r.outcome) for r in turn.results] == [
        ("c-say", "ok"),
        ("c-fail", "failed"),
        (turn.results[2].tool_call_id, "ok"),
    ]
    assert turn.results[2].tool_call_id not in {"c-say", None}
    assert turn.results[2].data == {"said": "c", "note": ""}
    assert (turn.pending, turn.dialect) == ((), "inline")


def test_independent_calls_run_at_the_same_time(open_world):
    world = open_world()
    meeting = asyncio.Barrier(3)

    async def say(word, note=""):
        await meeting.wait()
        return {"said": word}

    from toolmd.testing import memory_workspace

    with memory_workspace({"say.tool.md": tool("say")}, [say]) as workspace:
        reply = "".join(inline("say", word=word) for word in "abc")
        turn = asyncio.run(asyncio.wait_for(workspace.handle(reply), 5))
    assert [r.data["said"] for r in turn.results] == ["a", "b", "c"]
    assert world.ran == []


def test_one_unreadable_call_denies_the_whole_reply(world):
    turn = world.handle(f"Well, {inline('say', word='a')}" + '[TOOL_CALL:{"tool":"say","more":1}]')
    assert turn.clean_message == "Well,"
    (result,) = turn.results
    assert (result.success, result.outcome, result.error.code) == (
        False,
        "denied",
        "malformed_call",
    )
    assert world.ran == []


@pytest.mark.parametrize(
    ("reply", "dialect", "code"),
    [
        ("x" * 262_145, "auto", "malformed_call"),
        (inline("say", word="a") * 33, "auto", "malformed_call"),
        (b"\xff", "auto", "malformed_call"),
        (17, "auto", "malformed_call"),
        (chat(("say", [])), "openai", "malformed_call"),
        ('{"calls": [{"tool": "say", "params": {"word": "a"}}]}', "plan", "invalid_plan"),
        (inline("say", 1.5, word="a"), "inline", "malformed_call"),
    ],
)
def test_an_unreadable_reply_is_one_denial(world, reply, dialect, code):
    turn = world.handle(reply, dialect)
    assert [(r.outcome, r.error.code) for r in turn.results] == [("denied", code)]
    (message,) = turn.messages
    assert message["role"] == ("tool" if dialect == "openai" else "user")
    assert code in message["content"]
    assert world.ran == []


@pytest.mark.parametrize(
    ("reply", "dialect"),
    [
        ('[TOOL_CALL:{"tool":"say"]', "inline"),
        ('Action: {"tool":"say","args":{},"more":1}', "action"),
        ('{"calls":[{"tool":"say","params":{}}]}', "plan"),
        ('So be it:\n{"calls":[{"tool":"say","params":{}}]}', "plan"),
        ({"tool_calls": [{"function": {"name": "say", "arguments": "{"}}]}, "openai"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}, "anthropic"),
        (17, "auto"),
    ],
)
def test_a_malformed_reply_is_answered_in_the_dialect_that_was_detected(world, reply, dialect):
    turn, named = world.handle(reply), world.handle(reply, dialect)
    assert (turn.dialect, turn.messages) == (dialect, named.messages)


def test_the_crisis_flag_is_on_every_outcome(open_world):
    world = open_world(**{"safety.crisis_words": ["suicide"]})
    for reply in (
        inline("say", word="a"),
        inline("nothing"),
        inline("say"),
        '[TOOL_CALL:{"tool":"say"}]',
        chat(("greet_twice", {"word": "far too long a word"})),
    ):
        turn = world.handle(reply, message="I think of suicide")
        assert [r.crisis for r in turn.results] == [True]
        assert not any(r.crisis for r in world.handle(reply, message="Hello").results)
    assert [
        r.outcome for r in world.handle(inline("say", word="a"), message="SUICIDE").results
    ] == ["review"]


def test_a_crisis_message_whose_reply_has_no_call_flags_the_conversation(open_world):
    world = open_world(**{"safety.crisis_words": ["suicide"]})
    for reply in ("I am here for you.", ""):
        who = {"user": "u1", "conversation": f"after {reply!r}"}
        world.handle(reply, message="I think of suicide", dry_run=True, **who)
        assert world.handle(inline("say", word="a"), **who).results[0].outcome == "ok"
        world.handle(reply, message="I think of suicide", **who)
        (result,) = world.handle(inline("say", word="a"), **who).results
        assert (result.outcome, result.crisis) == ("review", True)


def test_a_pending_call_is_reported_and_confirmed_by_its_id(world):
    turn = world.handle(inline("ask_first", word="a") + inline("say", word="b"), user="u1")
    (held,) = turn.pending
    assert held.to_dict() == {
        "id": held.id,
        "kind": "confirm",
        "tool_call_id": "c-ask_first",
        "tool": "ask_first",
        "parameters": {"word": "a"},
        "user": "u1",
        "prompt": "I'd like to ask first: word: a. Is this correct?",
        "sensitivity": "low",
        "created": held.created,
        "expires": held.created + 600.0,
        "state": "pending",
    }
    assert turn.results[0].confirmation.id == held.id
    assert world.ran == [("say", "b")]
    done = asyncio.run(
        world.workspace.confirmations.approve(held.id, edit={"word": "c"}, user="u1")
    )
    assert (done.success, done.tool_call_id) == (True, "c-ask_first")
    assert world.ran == [("say", "b"), ("ask_first", "c")]


def test_a_later_decision_is_rendered_in_the_turns_dialect(world):
    turn = world.handle(chat(("ask_first", {"word": "a"}), ("say", {"word": "b"})))
    assert "ask first" not in turn.messages[1]["content"]
    done = asyncio.run(world.workspace.confirmations.approve(turn.pending[0].id))
    messages = turn.render([done, turn.results[1]])
    assert [m["tool_call_id"] for m in messages] == ["call_1", "call_2"]
    assert json.loads(messages[0]["content"])["outcome"] == "ok"


def test_a_dry_run_runs_and_stores_nothing(world):
    reply = (
        inline("ask_first", word="a") + inline("say", word="b") + inline("greet_twice", word="c")
    )
    turn = world.handle(reply, dry_run=True)
    assert [r.outcome for r in turn.results] == ["confirm", "allowed", "allowed"]
    (held,) = turn.pending
    assert (held.id, held.parameters) == ("", {"word": "a"})
    assert "id" not in held.to_dict()
    assert world.workspace.confirmations.pending_sync() == ()
    assert world.ran == []


def test_a_turn_is_written_as_json(world):
    shown = world.handle(inline("say", word="a")).to_dict()
    assert list(shown) == ["clean_message", "results", "pending", "dialect", "messages"]
    assert shown["results"][0]["data"] == {"said": "a", "note": ""}
    assert json.loads(json.dumps(shown)) == shown


def test_confidence_comes_with_the_call_or_as_an_argument(world):
    assert world.handle(inline("sure", 0.7, word="a")).results[0].success
    assert world.handle(chat(("sure", {"word": "a", "_confidence": 0.7}))).results[0].success
    low = world.handle(tool_use(("sure", {"word": "a", "_confidence": 0.6}))).results[0]
    assert low.error.code == "low_confidence"
    missing = world.handle(chat(("sure", {"word": "a"}))).results[0]
    assert missing.error.code == "missing_confidence"


def test_user_and_patient_come_from_the_host_alone(open_world):
    guarded = tool("say").replace(
        "- **Category**: test\n",
        "- **Category**: test\n- **Requires Auth**: true\n- **Requires Patient Context**: true\n",
    )
    world = open_world({"say.tool.md": guarded})
    reply = inline("say", word="a")
    assert world.handle(reply).results[0].error.code == "auth_required"
    assert world.handle(reply, user="u").results[0].error.code == "context_required"
    assert world.handle(reply, user="u", context={"patient": "p"}).results[0].success
    named = inline("say", word="a", user="u", context={"patient": "p"})
    assert world.handle(named).results[0].error.code == "auth_required"


def test_the_budget_of_a_plan_reaches_its_calls(world):
    async def say(word, note=""):
        await asyncio.Event().wait()

    from toolmd.testing import memory_workspace

    plan = {
        "calls": [{"tool": "say", "params": {"word": "a"}}],
        "budget": {"rows": 5, "bytes": 500, "timeout_ms": 20},
    }
    with memory_workspace({"say.tool.md": tool("say")}, [say]) as workspace:
        turn = asyncio.run(workspace.handle(json.dumps(plan), "plan"))
    assert turn.results[0].error.code == "outcome_unknown"


def test_an_unknown_tool_of_an_action_is_reported_with_exactly_the_seeds_body(world):
    turn = world.handle('Action: {"tool": "nothing", "args": {}}')
    assert turn.results[0].error.code == "unknown_tool"
    assert turn.messages == [{"role": "user", "content": '{"error":"unknown_tool"}'}]


def test_a_single_call_that_is_too_large_keeps_its_name_and_its_id(world):
    large = Call("say", "x" * 300_000, "c1", dry_run=True)

    denied = world.workspace.dispatch_sync(large)

    assert (denied.tool, denied.tool_call_id) == ("say", "c1")
    assert denied.error.code == "malformed_call"


def test_an_unknown_dialect_is_reported_with_the_known_ones(world):
    with pytest.raises(NotFoundError, match="inline"):
        world.handle("Hello", "klingon")


def test_the_prompt_of_a_text_dialect_teaches_the_tools(world):
    prompt = world.workspace.system_prompt("inline")
    assert "[TOOL_CALL:" in prompt
    assert "ask_first" in prompt
    assert world.workspace.system_prompt("openai") == ""


def test_a_closed_workspace_handles_nothing(world):
    world.workspace.close()
    with pytest.raises(ToolmdError, match="closed"):
        world.handle("Hello")


def test_each_readable_id_of_a_denied_reply_gets_exactly_one_result(world):
    reply = {"role": "assistant", "tool_calls": [
        {"id": own, "type": "function", "function": {"name": "say", "arguments": given}}
        for own, given in (("a", '{"word": "a"}'), ("b", '{"word":'))]}  # fmt: skip
    turn = world.handle(reply)

    assert turn.denied
    assert [(m["role"], m["tool_call_id"]) for m in turn.messages] == [("tool", "a"), ("tool", "b")]
    assert [r.error.code for r in turn.results] == ["malformed_call", "malformed_call"]
    assert world.ran == []


def test_a_denied_custom_tool_call_is_answered_in_its_own_form(world):
    items = [
        {"type": "custom_tool_call", "call_id": "c1", "name": "greet", "input": "hi"},
        {"type": "function_call", "call_id": "c2", "name": "greet", "arguments": "{}"},
    ]
    told = [(one["type"], one["call_id"]) for one in world.handle(items).messages]
    assert told == [("custom_tool_call_output", "c1"), ("function_call_output", "c2")]
