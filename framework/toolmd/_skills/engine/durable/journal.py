"""The record of one run in DBOS: one step per effect, found by its name."""

import asyncio
import contextlib
import datetime as dt
import itertools
from collections.abc import Mapping
from typing import Any, Protocol

from dbos import DBOS

from toolmd._skills.engine.durable.loop_bridge import FarExecutor, LoopBridge
from toolmd._skills.engine.durable.rows import KeptQuestion
from toolmd._skills.journal import (
    CancelledRunError,
    Effect,
    Executor,
    ParkedError,
    UncertainOutcome,
)
from toolmd._types.run import Answer, Clock, JournalEntry, Question, RunEvent, RunListener


class LostRunError(BaseException):
    """This process may not continue the run: it ends, or another process has taken over.

    Not an Exception, so that neither DBOS nor a skill's Python treats it as the run's own failure.
    """


class _UnrecordedError(BaseException):
    """Carries an exception past DBOS, which would record it as the step's outcome."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class RunKeeper(Protocol):
    """The engine, as a journal uses it while its run executes."""

    async def is_cancelled(self, run_id: str) -> bool:
        """Return whether the run was cancelled."""

    def may_go_on(self) -> bool:
        """Return whether a new effect may begin in this process."""


class DurableJournal:
    """One attempt's view of its run: effects of earlier attempts count as done."""

    def __init__(
        self,
        run_id: str,
        began: dt.datetime,
        entries: Mapping[str, JournalEntry],
        asked: Mapping[str, KeptQuestion],
        keeper: RunKeeper,
        clock: Clock,
    ) -> None:
        self._run_id = run_id
        self._now = began
        self._entries = dict(entries)
        self._asked = asked
        self._keeper = keeper
        self._clock = clock
        self.bridge: LoopBridge | None = None
        """The loop of the tools; None for the loop that executes the run."""
        self.watch: RunListener | None = None
        self.told: set[tuple[str, str, str]] = set()
        """The events that `watch` received, including earlier attempts."""
        self.lost: BaseException | None = None
        """Why the run can't continue here, if it can't."""

    def now(self) -> dt.datetime:
        """Return the time of the last recorded effect."""
        return self._now

    def reach(self, executor: Executor) -> Executor:
        """Return an executor that works from this loop."""
        return executor if self.bridge is None else FarExecutor(executor, self.bridge)

    def holds(self, key: str) -> bool:
        """Return whether the effect is recorded."""
        return key in self._entries

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Return the recorded value, or run the effect and record it."""
        entry = self._entries.get(key)
        if entry is None:
            if self.lost is not None or not self._keeper.may_go_on():
                raise self._lose(LostRunError("this process ends"))
            if not undoing:
                await self.go_on()
            if uncertain is not None and await self._happened(key, uncertain):
                effect = _value(uncertain.happened)
            entry = self._entries[key] = await self._step(key, effect)
        self._now = max(self._now, dt.datetime.fromisoformat(entry.at))
        return entry.value

    async def answer(self, question: Question) -> Answer:
        """Return the recorded answer, or park."""
        asked = self._asked.get(question.key)
        if asked is not None and asked.answer is not None:
            if asked.answered is not None:
                self._now = max(self._now, asked.answered)
            return asked.answer
        if not question.undoes:
            await self.go_on()
        raise ParkedError(question)

    async def go_on(self) -> None:
        """Raise CancelledRunError in a cancelled run."""
        if await self._keeper.is_cancelled(self._run_id):
            raise CancelledRunError

    def tell(self, event: RunEvent) -> None:
        """Report an event in the listener's loop."""
        if self.watch is None or event.mark in self.told:
            return
        self.told.add(event.mark)
        if self.bridge is None:
            self.watch(event)
            return
        with contextlib.suppress(RuntimeError):
            self.bridge.loop.call_soon_threadsafe(self.watch, event)

    async def _happened(self, key: str, uncertain: UncertainOutcome) -> bool:
        """Record that the call begins; if it began before, return a person's report of it."""
        for number in itertools.count(1):
            mark = f"{key}:begun{number}"
            if mark not in self._entries:
                self._entries[mark] = await self._step(mark, _value(value=True))
                return False
            answer = await self.answer(uncertain.question._replace(key=f"{mark}:happened"))
            if answer.approved:
                return True
        raise AssertionError("counting does not end")

    async def _step(self, key: str, effect: Effect) -> JournalEntry:
        async def record() -> dict[str, Any]:
            try:
                value = await effect()
            except Exception as error:  # noqa: BLE001 - raised again in the caller
                raise _UnrecordedError(error) from None
            return {"value": value, "at": self._clock().isoformat()}

        try:
            kept = await DBOS.run_step_async({"name": key}, record)
        except _UnrecordedError as carried:
            raise carried.error from None
        except (LostRunError, asyncio.CancelledError):
            raise
        except Exception as error:
            # It could not be recorded, or another process owns the run by now.
            raise self._lose(error) from error
        return JournalEntry(key, kept["value"], kept["at"])

    def _lose(self, error: BaseException) -> LostRunError:
        self.lost = self.lost or error
        return LostRunError(str(error))


def _value(value: Any) -> Effect:
    async def effect() -> Any:
        return value

    return effect
