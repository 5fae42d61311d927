"""Handle a model's reply: read it, take its calls at once, and say what waits for a person."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from toolmd._call import Dispatcher
from toolmd._call.crisis import flagged
from toolmd._call.cut import arrays_of
from toolmd._call.result import write
from toolmd._dialect import parse_reply, render_denial, render_results
from toolmd._dialect.calls import MAX_BYTES
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.reply import Dialect, Parsed
from toolmd._types.result import EventListener, Result
from toolmd._types.turn import Turn
from toolmd._workspace.names import Names
from toolmd._workspace.opened import OpenProject
from toolmd._workspace.runs import Runs, crashed
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import MalformedReplyError, NotFoundError, logged


@asynccontextmanager
async def open_replies(project: OpenProject, runs: Callable[[], Runs]) -> AsyncIterator["Replies"]:
    """Open what handles replies on one snapshot, whatever is reloaded meanwhile."""
    project.check_open()
    live = project.live
    with live.snapshot.resources.hold():
        await live.settle()
        yield Replies(runs, live, await live.ready_dispatcher())


class Replies:
    """Handles what models say on one snapshot; see `Workspace.handle`."""

    def __init__(self, runs: Callable[[], Runs], live: Live, dispatcher: Dispatcher) -> None:
        """Pass calls of tools to `dispatcher`; calls of skills become `runs`."""
        self._runs = runs
        self._dispatcher = dispatcher
        self._keeper = live.keeper
        self._dialects = live.dialects.by_name
        self._names = Names(dispatcher.registry)

    async def handle(
        self,
        reply: Any,
        dialect: str,
        *,
        caller: Caller,
        dry_run: bool = False,
        on_event: EventListener | None = None,
    ) -> Turn:
        """Return the turn.

        Raises NotFoundError for a dialect that is not there, and UnreachableError where the
        crisis flag of a message that led to no call can't be stored.
        """
        whole = Call("", {}, caller=caller, dry_run=dry_run)
        try:
            parsed = parse_reply(reply, dialect, self._dialects)
        except NotFoundError:
            raise
        except MalformedReplyError as error:
            denied = await self._dispatcher.deny(whole, error.code, str(error))
            return self._denied(
                denied, error.dialect or dialect, error.clean_message, error.calls, error.custom
            )
        except Exception as error:  # noqa: BLE001 - a dialect that breaks lets nothing through
            reference = logged(error, "the dialect %s failed", dialect)
            message = f"The reply could not be read (reference {reference}). Nothing happened."
            denied = await self._dispatcher.deny(whole, "internal_guard_error", message)
            return self._denied(denied, dialect, "")
        if not parsed.calls and not dry_run:
            await self._dispatcher.hear(caller)
        spoken = parsed.dialect if parsed.dialect in self._dialects else dialect
        name = secrets.token_hex(8)
        calls = [
            self._named(
                call._replace(caller=caller, dry_run=dry_run, key=None, depth=0, reply=name)
            )
            for call in parsed.calls
        ]
        # Before any call runs: a crisis in one of them holds the others, too.
        if len(calls) > 1 and any([await self._dispatcher.escalates(call) for call in calls]):
            calls = list(map(flagged, calls))
        if any(call.budget for call in calls):
            results = await self._take_in_order(calls, on_event)
        else:
            results = await asyncio.gather(*(self._take(call, on_event) for call in calls))
        shown = [await self._keeper.shown(result, caller.user) for result in results]
        return self._turn(parsed, spoken, tuple(shown))

    def _named(self, call: Call) -> Call:
        """Return a call under the tool's own name."""
        called = self._names.find(call.tool)
        return call if called is None else call._replace(tool=called.name)

    async def _take(self, call: Call, on_event: EventListener | None) -> Result:
        """Make a call by its tool's or skill's own name."""
        if call.tool in self._dispatcher.registry.tools or self._names.find(call.tool) is None:
            return await self._dispatcher.dispatch(call, on_event)
        return await self._run(call)

    async def _take_in_order(
        self, calls: Sequence[Call], on_event: EventListener | None
    ) -> list[Result]:
        """Make the calls of a plan one by one; each gets what the ones before it left."""
        budget = calls[0].budget
        assert budget is not None
        purse, results = Purse(budget), []
        for call in calls:
            left = purse.left
            if lacks := lacking(left):
                told = f"The plan's budget has no {lacks} left for {call.tool}."
                result = await self._dispatcher.deny(call, "budget_exhausted", told)
            else:
                result = await self._take(call._replace(budget=left), on_event)
                purse.spend(result)
            results.append(result)
        return results

    async def _run(self, call: Call) -> Result:
        try:
            return await self._runs().begin(call)
        except NotFoundError:
            raise
        except Exception as error:  # noqa: BLE001 - one call's failure must not cancel another's
            return self._dispatcher.finish_run(call, crashed(call, error))

    async def take_alone(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Read a call that came without a reply, which is held to a reply's bounds."""
        given = call.arguments
        if isinstance(given, str | bytes) and len(given) > MAX_BYTES:
            told = f"the arguments of {call.tool} are over {MAX_BYTES // 1024} KiB"
            return await self._dispatcher.deny(call, "malformed_call", told)
        result = await self._take(self._named(call), on_event)
        return await self._keeper.shown(result, call.caller.user)

    def _turn(self, parsed: Parsed, spoken: str, results: tuple[Result, ...]) -> Turn:
        asked = (result.waiting or (result.confirmation,) for result in results)
        pending = tuple(one for some in asked for one in some if one is not None)
        dialects = self._dialects

        def render(told: Sequence[Result]) -> list[dict[str, Any]]:
            return _rendered([self._keeper.cut(result) for result in told], spoken, dialects)

        found = spoken if parsed.calls else "text"
        return Turn(parsed.clean_message, results, pending, found, render)

    def _denied(
        self,
        result: Result,
        dialect: str,
        clean: str,
        calls: Sequence[tuple[str | None, str]] = (),
        custom: Collection[str] = (),
    ) -> Turn:
        """Return the denial of a whole reply: one result for each call whose id can be read."""
        dialects, result = self._dialects, self._keeper.cut(result)
        if calls:
            results = [result._replace(tool_call_id=own, tool=tool) for own, tool in calls]

            def render(told: Sequence[Result]) -> list[dict[str, Any]]:
                return _rendered(told, dialect, dialects, custom)

        else:
            results = [result]

            def render(told: Sequence[Result]) -> list[dict[str, Any]]:
                return [m for r in told for m in render_denial(r, dialect, dialects)]

        return Turn(clean, tuple(results), dialect=dialect, render=render, denied=True)


def _rendered(
    results: Sequence[Result],
    dialect: str,
    dialects: Mapping[str, Dialect],
    custom: Collection[str] = (),
) -> list[dict[str, Any]]:
    try:
        return list(render_results(results, dialect, dialects, custom))
    except Exception as error:  # noqa: BLE001 - what ran must be told, whatever a plugin does
        logged(error, "the dialect %s could not write results", dialect)
        return render_results(results, "auto")


class Purse:
    """What is left of a plan's budget; its time runs from now on."""

    def __init__(self, budget: Budget) -> None:
        """Fill it with a budget."""
        self._rows, self._bytes = budget.rows, budget.bytes
        self._until = monotonic() + budget.timeout_ms / 1000

    @property
    def left(self) -> Budget:
        """The budget of the next call; what is used up is 0 or less."""
        return Budget(self._rows, self._bytes, round((self._until - monotonic()) * 1000))

    def spend(self, result: Result) -> None:
        """Subtract the rows and bytes of a call's data."""
        if result.data is not None:
            self._rows -= sum(map(len, arrays_of(result.data).values()))
            self._bytes -= len(write(result.data))


def lacking(left: Budget) -> str:
    """Return what of a budget is used up, such as `rows and bytes`; empty where nothing is."""
    words = zip(("rows", "bytes", "time"), left, strict=True)
    return " and ".join(word for word, amount in words if amount <= 0)
