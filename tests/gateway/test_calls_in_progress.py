"""A call in progress ends for its caller, whatever its server reads, answers or reports."""

import asyncio
import json
import math
import os
from collections.abc import Iterator
from typing import Any, cast

import pytest
from mcp_types import JSONRPCRequest

from toolmd._remote.mcp.calls import Calls
from toolmd._remote.mcp.error import LostAnswerError, NotStartedError
from toolmd._remote.mcp.progress import ProgressReports
from toolmd._remote.mcp.running import Running
from toolmd._remote.mcp.writer import LineWriter
from toolmd._types.context import Context


class Listener:
    """The context of a call; it keeps what is reported, once it may."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float | None]] = []
        self.may = asyncio.Event()
        self.has_last = asyncio.Event()

    async def progress(self, text: str, fraction: float | None = None) -> None:
        """Keep a report."""
        await self.may.wait()
        self.told.append((text, fraction))
        if text == "last":
            self.has_last.set()

    def reports(self) -> ProgressReports:
        """Return what reports to it."""
        return ProgressReports(cast("Context", self))


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """The two ends of a pipe; the writer closes the second one."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


def test_a_call_ends_when_its_caller_leaves_and_its_server_reads_nothing(
    pipe: tuple[int, int],
) -> None:
    reading, writing = pipe

    async def run() -> tuple[list[Running], list[Any]]:
        writer, over = LineWriter(writing, lambda: None), list[Running]()
        calls, running = Calls(writer), Running("{}", over.append)
        calls.send(running, {"name": "echo"}, lambda *_: None)
        writer.write(b'"%b"' % (b"x" * (30 << 20)))
        waits = asyncio.create_task(running.outcome(asyncio.get_running_loop()))
        await asyncio.sleep(0)
        waits.cancel()
        await asyncio.wait([waits])
        await asyncio.sleep(0)
        with os.fdopen(reading, "rb", closefd=False) as lines:
            sent = [json.loads(await asyncio.to_thread(lines.readline)) for _ in range(3)]
        writer.close()
        assert over == [running]
        return over, sent

    _, (call, _, cancel) = asyncio.run(run())

    assert cancel["method"] == "notifications/cancelled"
    assert cancel["params"]["requestId"] == call["id"]


def test_a_call_that_no_server_can_read_is_not_sent() -> None:
    reading, writing = os.pipe()
    os.close(reading)

    async def run() -> None:
        writer = LineWriter(writing, lambda: None)
        calls, running = Calls(writer), Running("{}", lambda _: None)
        with pytest.raises(NotStartedError, match="the connection ended"):
            calls.send(running, {"name": "echo"}, lambda *_: None)
        calls.end()
        writer.close()

    asyncio.run(run())


def test_an_answer_to_a_call_that_has_ended_meanwhile_is_lost_at_once() -> None:
    async def run() -> None:
        running = Running("{}", lambda _: None)
        asks = asyncio.create_task(running.ask("How large?"))
        await asyncio.sleep(0)
        assert running.is_asking
        running.settle("done without the answer")
        running.wait_again()
        running.answer("large")
        async with asyncio.timeout(10):
            with pytest.raises(LostAnswerError):
                await running.outcome(asyncio.get_running_loop())
        asks.cancel()

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["task", "another"])
def test_a_result_that_is_none_yet_leaves_the_outcome_unknown(kind: str) -> None:
    class Writer:
        """A server that is never written to."""

        def write(self, line: bytes, *, always: bool = False) -> bool:
            """Drop a line."""
            return True

    calls = Calls(Writer())
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    calls.sent(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/list", params={"_meta": meta}))

    with pytest.raises(LostAnswerError, match="goes on with the call"):
        calls.result_of({"resultType": kind, "taskId": "1", "content": []})


def test_reports_that_are_no_finite_numbers_are_left_out() -> None:
    async def run() -> list[Any]:
        listener = Listener()
        listener.may.set()
        reports = listener.reports()
        for number in (10**400, math.nan, math.inf):
            reports.add(number, 2, None)
            reports.add(1, number, None)
        reports.add(1, 2, "last")
        await listener.has_last.wait()
        return listener.told

    assert asyncio.run(run()) == [("1", None)] * 3 + [("last", 0.5)]


def test_a_flood_of_reports_leaves_the_last_ones_in_their_order() -> None:
    async def run() -> list[Any]:
        listener = Listener()
        reports = listener.reports()
        await asyncio.to_thread(lambda: [reports.add(one, None, None) for one in range(9_999)])
        reports.add(9_999, None, "last")
        listener.may.set()
        await listener.has_last.wait()
        return listener.told

    told = asyncio.run(run())
    numbers = [int(text) for text, _ in told[:-1]]

    assert len(told) < 300
    assert numbers == sorted(numbers)


def test_a_report_to_an_event_loop_that_is_closed_is_dropped() -> None:
    async def made() -> ProgressReports:
        return Listener().reports()

    asyncio.run(made()).add(1, 2, "late")
