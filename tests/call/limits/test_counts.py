"""Limits on the calls of a conversation and on concurrent calls."""

import asyncio
from pathlib import Path

from tests.definitions import few

from toolmd._types.call import Budget
from toolmd._types.call_spec import Limits, Rate
from toolmd._types.settings import AuditSettings, Settings

MEMORY = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")


async def nothing():
    return None


def test_calls_are_counted_for_each_conversation(harness, tool):
    dispatcher = harness(tool("act", nothing, limits=Limits(quotas=few(1))), settings=MEMORY)
    assert dispatcher.call("act", user="a", conversation="c1").success
    refused = dispatcher.call("act", user="a", conversation="c1")
    assert (refused.outcome, refused.error.code) == ("denied", "quota_exceeded")
    assert dispatcher.call("act", user="a", conversation="c2").success
    assert dispatcher.call("act", user="b", conversation="c1").success
    assert dispatcher.call("act", user="a", conversation="c2", dry_run=True).outcome == "denied"


def test_a_call_that_never_started_does_not_count(harness, tool):
    limits = Limits(quotas=few(2), rate=Rate(calls=1, per_s=3600), timeout_s=1)
    dispatcher = harness(tool("act", nothing, limits=limits), settings=MEMORY)
    codes = [dispatcher.call("act").error for _ in range(4)]
    assert [error and error.code for error in codes] == [None, *["rate_limited"] * 3]


def test_a_call_that_never_started_releases_exactly_its_own_count(harness, tool):
    limits = Limits(quotas=few(2), max_concurrent=1)
    free = asyncio.Event()
    dispatcher = harness(tool("act", free.wait, limits=limits), settings=MEMORY).dispatcher

    async def main():
        first = asyncio.create_task(dispatcher.call("act", "{}"))
        await asyncio.sleep(0)
        late = await dispatcher.call("act", "{}", budget=Budget(10, 1000, 20))
        free.set()
        return [late, await first, *[await dispatcher.call("act", "{}") for _ in range(2)]]

    codes = [result.error and result.error.code for result in asyncio.run(main())]
    assert codes == ["rate_limited", None, None, "quota_exceeded"]


def test_the_calls_that_tools_make_count_too(harness, tool):
    async def outer(*, context):
        return [(await context.call("inner", {})).outcome for _ in range(3)]

    inner = tool("inner", nothing, limits=Limits(quotas=few(2)))
    dispatcher = harness(inner, tool("outer", outer, context="context"), settings=MEMORY)
    assert dispatcher.call("outer", conversation="c").data == ["ok", "ok", "denied"]


def test_so_many_calls_run_at_one_time_and_the_others_wait(harness, tool):
    running, most = [0], [0]

    async def act():
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0.001)
        running[0] -= 1

    dispatcher = harness(
        tool("act", act, limits=Limits(max_concurrent=3)), settings=MEMORY
    ).dispatcher

    async def main():
        return await asyncio.gather(*(dispatcher.call("act", "{}") for _ in range(50)))

    assert all(result.success for result in asyncio.run(main()))
    assert most == [3]


def test_a_call_that_waits_too_long_is_denied_and_the_semaphore_stays_correct(harness, tool):
    free = asyncio.Event()

    async def act():
        await free.wait()

    limits = Limits(max_concurrent=1, timeout_s=0.05)
    dispatcher = harness(
        tool("act", act, read_only=True, limits=limits), settings=MEMORY
    ).dispatcher

    async def main():
        results = await asyncio.gather(*(dispatcher.call("act", "{}") for _ in range(4)))
        free.set()
        return results, await dispatcher.call("act", "{}")

    results, after = asyncio.run(main())
    codes = [result.error.code for result in results]
    assert codes[0] == "timeout"
    assert set(codes) <= {"timeout", "rate_limited"}
    assert after.success


def test_a_cancelled_call_releases_the_semaphore(harness, tool):
    async def act():
        await asyncio.Event().wait()

    limits = Limits(max_concurrent=1)
    made = harness(tool("act", act, limits=limits), settings=MEMORY)
    dispatcher = made.dispatcher

    async def main():
        for _ in range(3):
            first = asyncio.create_task(dispatcher.call("act", "{}"))
            second = asyncio.create_task(dispatcher.call("act", "{}"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            second.cancel()
            first.cancel()
            await asyncio.gather(first, second, return_exceptions=True)
        return made.store.limits._select("SELECT 1 FROM running_call")

    assert asyncio.run(main()) == []
