"""Start the runs of skills with a Schedule."""

import datetime as dt
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from toolmd._skills.engine import Engine
from toolmd._skills.plan import InvalidScheduleError, schedule_inputs
from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd._types.run import Clock
from toolmd._types.schedule import last_tick, next_tick
from toolmd._types.skill import SkillSpec
from toolmd.errors import ToolmdError

LATE = dt.timedelta(minutes=1)
"""How late a run starts before the log reports it."""
logger = logging.getLogger(__name__)


class Schedules:
    """The schedules of a workspace, as long as its process executes runs: a tick starts one run."""

    def __init__(
        self,
        scheduled: Callable[[], Iterable[SkillSpec]],
        begin: Callable[..., Awaitable[Result]],
        engine: Engine,
        clock: Clock,
    ) -> None:
        """`scheduled` returns the skills, `begin` begins a run; `engine` stores the ticks."""
        self._scheduled = scheduled
        self._begin = begin
        self._engine = engine
        self._clock = clock
        self._next: dict[tuple[str, str], dt.datetime] = {}
        """When each schedule is checked again."""
        self._logged: set[str] = set()
        """The errors that were logged."""

    async def look(self) -> None:
        """Start the runs that are due."""
        for spec in self._scheduled():
            try:
                await self._check(spec, spec.schedule or "", self._clock())
            except Exception as error:  # noqa: BLE001 - the next check may succeed
                self._log_once(f"the Schedule of {spec.name} can't start a run now: {error}")

    async def _check(self, spec: SkillSpec, schedule: str, now: dt.datetime) -> None:
        """Start the run of the last tick, unless a process has; skip earlier missed ticks."""
        place = (spec.name, schedule)
        if now < self._next.get(place, now):
            return
        engine, tick = self._engine, last_tick(schedule, now)
        last = await engine.do(partial(engine.store.last_tick, *place))
        if last is not None and last < tick:
            await self._start(spec, tick)
            if next_tick(schedule, last) < tick or now - tick > LATE:
                logger.warning(
                    "%s was due at %s UTC and starts now; runs missed before that are skipped",
                    spec.name, f"{tick:%Y-%m-%d %H:%M:%S}",
                )  # fmt: skip
        # A new schedule begins with its next tick.
        await engine.do(partial(engine.store.keep_tick, *place, tick))
        self._next[place] = next_tick(schedule, tick)

    async def _start(self, spec: SkillSpec, tick: dt.datetime) -> None:
        # The id names the tick, so a second process finds the run and starts no other.
        run_id = f"{spec.name}-{tick:%Y%m%dT%H%M%SZ}"
        try:
            call = Call(spec.name, schedule_inputs(spec))
            result = await self._begin(call, run_id=run_id, at=tick)
        except (InvalidScheduleError, ToolmdError) as error:
            self._log_once(f"the Schedule of {spec.name} started no run: {error}")
            return
        if result.error is not None:
            self._log_once(f"the Schedule of {spec.name} started no run: {result.error.message}")

    def _log_once(self, message: str) -> None:
        if message not in self._logged:
            self._logged.add(message)
            logger.warning("%s", message)
