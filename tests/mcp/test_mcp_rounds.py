"""Questions over several rounds: an answer counts once, for the call that was asked about."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import (
    ElicitResult,
    InputRequiredResult,
)
from mcp_clients import code

from toolmd import Workspace
from toolmd._mcp.callers import Callers
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller

WALK = {"title": "Walk", "hour": 9}


def test_each_question_of_a_skill_has_the_name_of_its_answer(rounds: Any) -> None:
    async def play(by: Rounds) -> Any:
        first = await by.first("interview", {})
        assert set(first.input_requests or {}) == {"user_name"}
        # An answer to another question, or to none, is asked for again.
        again = await by.again(first.request_state, YES, name="interview", arguments={})
        assert set(again.input_requests) == {"user_name"}
        second = await by.again(
            again.request_state, YES, name="interview", arguments={}, key="user_name"
        )
        assert set(second.input_requests) == {"wish"}
        assert second.request_state != again.request_state

    rounds(play)


class Rounds:
    """Sends the rounds of the new era by hand, as a hostile client."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def first(self, name: str = "remind", arguments: Any = None) -> InputRequiredResult:
        given = WALK if arguments is None else arguments
        result = await self._client.session.call_tool(name, given, allow_input_required=True)
        assert isinstance(result, InputRequiredResult)
        return result

    async def again(
        self,
        state: str | None,
        *answers: ElicitResult,
        name: str = "remind",
        arguments: Any = None,
        key: str = "confirm",
    ) -> Any:
        return await self._client.session.call_tool(
            name,
            WALK if arguments is None else arguments,
            input_responses={key: answers[0]} if answers else {},
            request_state=state,
            allow_input_required=True,
        )


YES = ElicitResult(action="accept", content={})


@pytest.fixture
def rounds(server: McpServer) -> Callable[[Callable[[Rounds], Any]], Any]:
    async def nobody(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("driven by hand")

    def run(play: Callable[[Rounds], Any]) -> Any:
        async def inner() -> Any:
            async with Client(server.low, elicitation_callback=nobody) as connected:
                return await play(Rounds(connected))

        return asyncio.run(inner())

    return run


def test_an_answer_counts_once(rounds: Any, reminders: Any) -> None:
    async def play(by: Rounds) -> list[Any]:
        state = (await by.first()).request_state
        return [await by.again(state, YES) for _ in range(3)]

    first, *others = rounds(play)

    assert not first.is_error
    assert {code(other) for other in others} <= {"confirmation_used", "confirmation_not_found"}
    assert len(reminders()) == 1


def test_only_one_of_racing_answers_runs(rounds: Any, reminders: Any) -> None:
    async def play(by: Rounds) -> list[Any]:
        state = (await by.first()).request_state
        return await asyncio.gather(*(by.again(state, YES) for _ in range(50)))

    results = rounds(play)

    assert sum(not result.is_error for result in results) == 1
    assert len(reminders()) == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda s: s[:-20],
        lambda s: s[:40] + ("B" if s[40] == "A" else "A") + s[41:],
        lambda _: "",
        lambda _: '{"confirmation": "x"}',
        lambda s: s + s,
    ],
    ids=["cut", "one character changed", "empty", "plain", "double"],
)
def test_a_state_that_was_tampered_with_is_rejected(
    rounds: Any, reminders: Any, spoil: Callable[[str], str]
) -> None:
    async def play(by: Rounds) -> MCPError:
        state = (await by.first()).request_state
        assert state is not None
        with pytest.raises(MCPError) as error:
            await by.again(spoil(state), YES)
        return error.value

    assert rounds(play).code == -32602
    assert reminders() == []


def test_a_state_is_bound_to_its_tool_and_arguments(rounds: Any, reminders: Any) -> None:
    async def play(by: Rounds) -> None:
        state = (await by.first()).request_state
        with pytest.raises(MCPError):
            await by.again(state, YES, arguments={**WALK, "hour": 23})
        with pytest.raises(MCPError):
            await by.again(state, YES, name="transfer", arguments=WALK)

    rounds(play)

    assert reminders() == []


def test_a_state_is_bound_to_its_caller(workspace: Workspace, reminders: Any) -> None:
    async def nobody(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("driven by hand")

    who = {"caller": Caller("ana")}

    class ByName(Callers):
        def __call__(self, ctx: Any) -> Caller:
            return Callers(who["caller"])(ctx)

    server = McpServer(workspace, ByName(Caller()))

    async def play() -> None:
        async with Client(server.low, elicitation_callback=nobody) as connected:
            by = Rounds(connected)
            state = (await by.first()).request_state
            for other in (Caller("eve"), Caller("ana", {"patient": "p1"}), Caller()):
                who["caller"] = other
                with pytest.raises(MCPError):
                    await by.again(state, YES)

    asyncio.run(play())

    assert reminders() == []


def test_a_retry_without_an_answer_is_asked_again(rounds: Any, reminders: Any) -> None:
    async def play(by: Rounds) -> Any:
        state = (await by.first()).request_state
        again = await by.again(state)
        assert isinstance(again, InputRequiredResult)
        return await by.again(again.request_state, YES)

    assert not rounds(play).is_error
    assert len(reminders()) == 1


def test_an_answer_without_a_state_asks_for_itself(rounds: Any, reminders: Any) -> None:
    async def play(by: Rounds) -> Any:
        return await by.again(None, YES)

    assert isinstance(rounds(play), InputRequiredResult)
    assert reminders() == []


def test_a_state_of_another_process_is_rejected(workspace: Workspace, reminders: Any) -> None:
    async def nobody(context: Any, params: Any) -> ElicitResult:
        raise AssertionError("driven by hand")

    async def play() -> None:
        servers = [McpServer(workspace, Callers(Caller("ana"))) for _ in range(2)]
        async with Client(servers[0].low, elicitation_callback=nobody) as connected:
            state = (await Rounds(connected).first()).request_state
        async with Client(servers[1].low, elicitation_callback=nobody) as connected:
            with pytest.raises(MCPError):
                await Rounds(connected).again(state, YES)

    asyncio.run(play())

    assert reminders() == []
