"""Reports of progress reach the caller of a call, in order and bounded."""

import asyncio
import math
from typing import Any, cast

import pytest

from toolmd._gateway import LostAnswerError
from toolmd._gateway.session import Running
from toolmd._gateway.tools import ProgressReports
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
