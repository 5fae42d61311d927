"""Start the runs of skills with a Schedule, each tick once among all processes."""

import datetime as dt
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from toolmd._skills.schedule import InvalidScheduleError, schedule_inputs
from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd._types.schedule import last_tick, next_tick
from toolmd._types.skill import SkillSpec
from toolmd.errors import ToolmdError

if TYPE_CHECKING:
    from toolmd._workspace.runs.service import RunService

LOOK_S = 1.0
"""The pause between two checks of the schedules, in seconds."""
LATE = dt.timedelta(minutes=1)
"""How late a run starts before the log reports it."""
MOST_MISSED = 1000
"""Missed ticks are counted up to this number."""
Run = Callable[[Coroutine[Any, Any, Result]], Result]
logger = logging.getLogger(__name__)


class Schedules:
    """A thread that starts due runs, as long as this process executes runs."""

    def __init__(self, service: "RunService", run: Run) -> None:
        """Prepare it; `run` awaits a coroutine for this thread."""
        self._service = service
        self._run = run
        self._next: dict[tuple[str, str], dt.datetime] = {}
        """When each schedule is checked again."""
        self._told: set[str] = set()
        """The errors that were logged."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="toolmd-schedules", daemon=True)

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if not self._thread.ident:
            self._thread.start()

    def end(self) -> None:
        """Stop; a start under way finishes."""
        self._ended.set()
        if self._thread.ident and self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        while not self._ended.is_set():
            for spec in self._service.scheduled():
                try:
                    self._check(spec, spec.schedule or "", self._service.clock())
                except Exception as error:  # noqa: BLE001 - the next check may succeed
                    if not self._ended.is_set():
                        self._log_once(
                            f"the Schedule of {spec.name} can't start a run now: {error}"
                        )
            self._ended.wait(LOOK_S)

    def _check(self, spec: SkillSpec, schedule: str, now: dt.datetime) -> None:
        """Start the run of the last tick, unless a process has; skip earlier missed ticks."""
        place = (spec.name, schedule)
        if now < self._next.get(place, now):
            return
        ticks, tick = self._service.engines.durable().ticks, last_tick(schedule, now)
        last = ticks.last(*place)
        if last is not None and last < tick:
            self._start(spec, tick)
            missed = _between(schedule, last, tick)
            if missed or now - tick > LATE:
                logger.warning(
                    "%s was due at %s and starts now; missed runs before it, which are skipped: %d",
                    spec.name, f"{tick:%Y-%m-%d %H:%M:%S} UTC", missed,
                )  # fmt: skip
        # A new schedule begins with its next tick.
        ticks.keep(*place, tick)
        self._next[place] = next_tick(schedule, tick)

    def _start(self, spec: SkillSpec, tick: dt.datetime) -> None:
        # The id names the tick, so a second process finds the run and starts no other.
        run_id = f"{spec.name}-{tick:%Y%m%dT%H%M%SZ}"
        try:
            call = Call(spec.name, schedule_inputs(spec))
            result = self._run(self._service.run(call, run_id=run_id, at=tick))
        except (InvalidScheduleError, ToolmdError) as error:
            self._log_once(f"the Schedule of {spec.name} started no run: {error}")
            return
        if result.error is not None:
            self._log_once(f"the Schedule of {spec.name} started no run: {result.error.message}")

    def _log_once(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            logger.warning("%s", message)


def _between(schedule: str, last: dt.datetime, tick: dt.datetime) -> int:
    """Return the number of ticks between two ticks."""
    missed, at = 0, next_tick(schedule, last)
    while at < tick and missed < MOST_MISSED:
        missed, at = missed + 1, next_tick(schedule, at)
    return missed
