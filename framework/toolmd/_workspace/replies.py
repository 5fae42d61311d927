"""Handle a model's reply: read it, take its calls at once, and say what waits for a person."""

import asyncio
import secrets
from collections.abc import Callable, Collection, Sequence
from functools import partial
from time import monotonic
from typing import Any

from toolmd._call import Dispatcher
from toolmd._call.crisis import with_flag
from toolmd._call.cut import arrays_of
from toolmd._call.result import write
from toolmd._dialect import parse_reply, render_denial, render_results
from toolmd._dialect.calls import MAX_BYTES
from toolmd._types.call import Budget, Call, Caller, key_of, run_of
from toolmd._types.result import EventListener, Result
from toolmd._types.turn import Turn
from toolmd._workspace.live import Live
from toolmd._workspace.names import Names
from toolmd._workspace.runs import Runs, crash_result
from toolmd.errors import MalformedReplyError, NotFoundError, logged


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
        whole, dispatcher = Call("", {}, caller=caller, dry_run=dry_run), self._dispatcher
        try:
            parsed = parse_reply(reply, dialect, self._dialects)
        except NotFoundError:
            raise
        except MalformedReplyError as error:
            # One result for each call whose id can be read.
            result = self._keeper.cut(await dispatcher.deny(whole, error.code, str(error)))
            denied = [result._replace(tool_call_id=own, tool=tool) for own, tool in error.calls]
            dialect = error.dialect or dialect
            render = self._render_denials if not denied else self._render
            return Turn(error.clean_message, tuple(denied) or (result,), dialect=dialect,
                        render=partial(render, dialect, error.custom), denied=True)  # fmt: skip
        except Exception as error:  # noqa: BLE001 - a dialect that breaks lets nothing through
            reference = logged(error, "the dialect %s failed", dialect)
            message = f"The reply could not be read (reference {reference}). Nothing happened."
            result = self._keeper.cut(await dispatcher.deny(whole, "internal_guard_error", message))
            render = partial(self._render_denials, dialect, ())
            return Turn("", (result,), dialect=dialect, render=render, denied=True)
        if not parsed.calls and not dry_run:
            await dispatcher.hear(caller)
        spoken = parsed.dialect if parsed.dialect in self._dialects else dialect
        host: dict[str, Any] = {"caller": caller, "dry_run": dry_run, "key": None, "depth": 0}
        host["reply"] = secrets.token_hex(8)
        calls = [self._by_own_name(call._replace(**host)) for call in parsed.calls]
        # Before any call runs: a crisis in one of them holds the others, too.
        if len(calls) > 1 and any([await dispatcher.escalates(call) for call in calls]):
            calls = list(map(with_flag, calls))
        if any(call.budget for call in calls):
            results = await self._take_in_order(calls, on_event)
        else:
            taken = await asyncio.gather(*(self._take(call, on_event) for call in calls))
            results = [await self._keeper.show(result, caller.user) for result in taken]
        asked = (result.waiting or (result.confirmation,) for result in results)
        found = (one for some in asked for one in some if one is not None)
        # Identical calls wait for one confirmation.
        pending = tuple({one.id or one.tool_call_id: one for one in found}.values())
        return Turn(parsed.clean_message, tuple(results), pending,
                    spoken if calls else "text", partial(self._render, spoken, ()))  # fmt: skip

    async def take_alone(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Return the result of a call that came without a reply, within a reply's bounds."""
        given = call.arguments
        if isinstance(given, str | bytes) and len(given) > MAX_BYTES:
            told = f"the arguments of {call.tool} are over {MAX_BYTES // 1024} KiB"
            return await self._dispatcher.deny(call, "malformed_call", told)
        result = await self._take(self._by_own_name(call), on_event, once=call.id is not None)
        return await self._keeper.show(result, call.caller.user)

    def _by_own_name(self, call: Call) -> Call:
        """Return a call under the tool's own name."""
        called = self._names.find(call.tool)
        return call if called is None else call._replace(tool=called.name)

    async def _take(
        self, call: Call, on_event: EventListener | None, *, once: bool = False
    ) -> Result:
        """Make a call by its tool's or skill's own name; with `once`, its id names it alone."""
        tool = self._dispatcher.registry.tools.get(call.tool)
        if tool is not None and not tool.call_spec.model_invocation:
            return await self._dispatcher.deny_unknown(call)
        if tool is not None or self._names.find(call.tool) is None:
            once = once and not call.dry_run
            if once and call.id is not None:
                call = call._replace(key=call.key or key_of(call.id, call.tool, call.caller))
            return await self._dispatcher.dispatch(call, on_event, once=once)
        try:
            run_id = run_of(call.host_name) if once and call.host_name is not None else None
            return await self._runs().begin(call, run_id=run_id)
        except NotFoundError:
            raise
        except Exception as error:  # noqa: BLE001 - one call's failure must not cancel another's
            return await self._dispatcher.finish_run(call, crash_result(call, error))

    async def _take_in_order(
        self, calls: Sequence[Call], on_event: EventListener | None
    ) -> list[Result]:
        """Make the calls of a plan one by one; each gets what the ones before it left."""
        budget, results = calls[0].budget, []
        assert budget is not None
        rows, size, until = budget.rows, budget.bytes, monotonic() + budget.timeout_ms / 1000
        for call in calls:
            left = Budget(rows, size, round((until - monotonic()) * 1000))
            spent = [word for word, amount in zip(_PURSE, left, strict=True) if amount <= 0]
            if spent:
                told = f"The plan's budget has no {' and '.join(spent)} left for {call.tool}."
                result = await self._dispatcher.deny(call, "budget_exhausted", told)
            else:
                taken = await self._take(call._replace(budget=left), on_event)
                result = await self._keeper.show(taken._replace(budget=left), call.caller.user)
                if result.data is not None:
                    rows -= sum(map(len, arrays_of(result.data).values()))
                    size -= len(write(result.data))
            results.append(result)
        return results

    def _render(
        self, dialect: str, custom: Collection[str], told: Sequence[Result]
    ) -> list[dict[str, Any]]:
        shown = [self._keeper.cut(result) for result in told]
        try:
            return list(render_results(shown, dialect, self._dialects, custom))
        except Exception as error:  # noqa: BLE001 - what ran must be told, whatever a plugin does
            logged(error, "the dialect %s could not write results", dialect)
            return render_results(shown, "auto")

    def _render_denials(
        self, dialect: str, _custom: Collection[str], told: Sequence[Result]
    ) -> list[dict[str, Any]]:
        return [one for result in told for one in render_denial(result, dialect, self._dialects)]


_PURSE = ("rows", "bytes", "time")
"""What a plan's budget holds."""
