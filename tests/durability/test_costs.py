"""The cost of a run of five steps, counted in transactions."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from kept import Kept

from toolmd._fleet.database import PostgresDatabase
from toolmd._store.database import SqliteDatabase

STEP = "{n}. **Look {n}**.\n   - **Use**: look"
FIVE = "\n".join(STEP.format(n=n) for n in range(1, 6)) + "\n6. **Return**: Done."


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Count what runs ask the database of their store."""
    counts: Counter[str] = Counter()

    def counted(what: str, of: Callable[..., Any]) -> Callable[..., Any]:
        def count(first: Any, *values: Any, **named: Any) -> Any:
            counts[what] += 1
            return of(first, *values, **named)

        return count

    with monkeypatch.context() as patch:
        for kind in (SqliteDatabase, PostgresDatabase):
            patch.setattr(kind, "write", counted("writes", kind.write))
            patch.setattr(kind, "read", counted("reads", kind.read))
        yield counts


def test_a_run_of_five_steps_has_a_bounded_cost(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first run also stores its plan, and starts the thread that looks for work.
    assert kept.run(kept.order("run-0", FIVE)).success
    kept.engine._ended.set()
    assert kept.engine._thread is not None
    kept.engine._thread.join()
    with counting(monkeypatch) as counts:
        assert asyncio.run(kept.engine.run(kept.order("run-1", FIVE))).success

    # The run, its five steps and its result. It looks before each step whether it may begin.
    assert counts["writes"] == 7, counts
    assert counts["reads"] == 6, counts
