"""A late or cancelled call stops; a possible effect has an uncertain outcome."""

import asyncio
import threading

import pytest

from toolmd._types.call_spec import Limits

QUICK = Limits(timeout_s=0.05)


async def forever():
    await asyncio.Event().wait()


async def stream_forever():
    yield 1
    await asyncio.Event().wait()


def block():
    threading.Event().wait(5)


SLOW = [forever, stream_forever, block]


@pytest.mark.parametrize("function", SLOW)
def test_a_timeout_of_a_tool_with_effects_leaves_its_outcome_unknown(harness, tool, function):
    slow = harness(tool("slow", function, limits=QUICK))
    for _ in range(2):
        result = slow.call("slow")
        assert (result.success, result.outcome) == (False, "unknown")
        assert result.error.code == "outcome_unknown"
        assert "may have taken effect" in result.error.message


@pytest.mark.parametrize("function", SLOW)
@pytest.mark.parametrize("fields", [{"read_only": True}, {"idempotent": "yes"},
                                    {"idempotent": "keyed"}])  # fmt: skip
def test_a_timeout_of_a_harmless_tool_is_a_failure(harness, tool, function, fields):
    result = harness(tool("slow", function, limits=QUICK, **fields)).call("slow")
    assert (result.outcome, result.error.code) == ("failed", "timeout")


def test_a_timeout_inside_a_tool_counts_as_an_offline_service(harness, tool):
    async def impatient():
        async with asyncio.timeout(0.001):
            await forever()

    result = harness(tool("impatient", impatient)).call("impatient")
    assert (result.outcome, result.error.code) == ("unknown", "outcome_unknown")
    result = harness(tool("impatient", impatient, read_only=True)).call("impatient")
    assert (result.outcome, result.error.code) == ("failed", "api_offline")


def test_cancelling_the_caller_stops_the_tool(harness, tool):
    stopped = []
    begun = asyncio.Event()

    async def wait():
        begun.set()
        try:
            await forever()
        finally:
            stopped.append("stopped")

    async def main():
        dispatcher = harness(tool("wait", wait)).dispatcher
        for _ in range(2):
            task = asyncio.create_task(dispatcher.call("wait", "{}"))
            await begun.wait()
            begun.clear()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert stopped == ["stopped", "stopped"]


def test_a_tool_that_cancels_itself_fails_alone(harness, tool):
    async def give_up():
        raise asyncio.CancelledError

    result = harness(tool("give_up", give_up)).call("give_up")
    assert (result.outcome, result.error.code) == ("failed", "tool_error")
