"""The cost of a run of five steps, counted: SQL, thread hops and nested calls."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from kept import Kept

from toolmd._skills.engine import utc_now
from toolmd._skills.engine.durable.engine import DurableEngine
from toolmd._skills.interpreter import Interpreter
from toolmd._skills.journal import Journal
from toolmd._types.result import SkillResult
from toolmd._types.run import Order

STEP = "{n}. **Look {n}**.\n   - **Use**: look"
FIVE = "\n".join(STEP.format(n=n) for n in range(1, 6)) + "\n6. **Return**: Done."
COUNTS: Counter[str] = Counter()
IN_HOP = threading.local()


run_in_executor = asyncio.BaseEventLoop.run_in_executor


def counted_hop(
    loop: asyncio.BaseEventLoop, executor: Any, func: Callable[..., Any], *args: Any
) -> asyncio.Future[Any]:
    """Count what a loop hands to a thread, and mark the thread meanwhile."""
    COUNTS["hops"] += 1

    def marked() -> Any:
        IN_HOP.now = True
        try:
            return func(*args)
        finally:
            IN_HOP.now = False

    return run_in_executor(loop, executor, marked)


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count what the threads of runs ask any database; background threads are not marked."""

    def counter(kind: str) -> Callable[..., None]:
        def count(*_: Any) -> None:
            if getattr(IN_HOP, "now", False):
                COUNTS[kind] += 1

        return count

    events = {"before_cursor_execute": counter("statements"), "begin": counter("transactions")}
    for event, listener in events.items():
        sa.event.listen(sa.Engine, event, listener)
    COUNTS.clear()
    try:
        yield COUNTS
    finally:
        for event, listener in events.items():
            sa.event.remove(sa.Engine, event, listener)


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all loops count: nothing else sees those that runs make themselves."""
    monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", counted_hop)


def test_a_run_of_five_steps_has_a_bounded_cost(loops: None, kept: Kept) -> None:
    # The first run also stores its plan.
    assert kept.run(kept.order("run-0", FIVE)).success
    with counting() as counts:
        assert kept.run(kept.order("run-1", FIVE)).success

    assert counts["statements"] <= 28, counts
    assert counts["transactions"] <= 15, counts
    assert counts["hops"] <= 12, counts


def test_a_step_reaches_its_tool_in_at_most_13_nested_calls(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    chains: list[list[str]] = []
    runs: list[asyncio.Task[Any]] = []

    async def play(order: Order, journal: Journal) -> SkillResult:
        task = asyncio.current_task()
        assert task is not None
        runs.append(task)
        return await Interpreter(kept.world).execute(order, journal)

    async def look() -> dict[str, str]:
        # The run's own thread may still be on its way to wait for this.
        while (chain := [*awaited(runs[-1].get_coro())])[-1] != "do":  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
        chains.append(chain)
        return {}

    kept.engine.close()
    kept.world.functions["look"] = look
    kept.engine = DurableEngine(play, "sqlite", tmp_path, clock=utc_now)
    assert kept.run(kept.order("run-1", FIVE)).success
    kept.engine.close()

    within = chains[0][chains[0].index("_step") + 1 :]
    # The workspace's own journal and executor come on top.
    assert len(within) + 2 <= 13, within


def awaited(coroutine: Any) -> Iterator[str]:
    """Return the names of the functions that a suspended task is in, the outermost first."""
    while hasattr(coroutine, "cr_code"):
        yield coroutine.cr_code.co_name
        coroutine = coroutine.cr_await
