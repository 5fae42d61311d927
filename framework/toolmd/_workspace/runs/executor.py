"""Execute a run's calls through the snapshot's dispatcher, and a skill's Python."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from toolmd._call import CallContext, Dispatcher, in_daemon_thread, start
from toolmd._skills.journal import Through
from toolmd._types.call import Call
from toolmd._types.result import Event, EventListener, Result
from toolmd.errors import NotFoundError

LONG_S = 30 * 24 * 3600.0
"""The deadline in seconds of a skill's Python, which may wait for people; its calls have theirs."""


class DispatchExecutor:
    """The executor of the runs on one snapshot; see `_skills.journal.Executor`."""

    def __init__(self, dispatcher: Dispatcher, heard: Callable[[Call, Event], None]) -> None:
        """Prepare it; `heard` receives the events of the run's calls."""
        self._dispatcher = dispatcher
        self._heard = heard

    async def call(self, call: Call) -> Result:
        """Run a call through the dispatcher."""
        return await self._dispatcher.dispatch(call, partial(self._heard, call))

    async def confirm(self, held: str, call: Call) -> Result:
        """Approve a pending call by its id, with the arguments of `call`, and run it."""
        return await self._dispatcher.decisions.confirm_call(held, call, partial(self._heard, call))

    async def reject(self, held: str, call: Call) -> None:
        """Reject a pending call by its id: it never runs."""
        await self._dispatcher.decisions.reject(held, user=call.caller.user)

    async def python(self, call: Call, through: Through) -> Any:
        """Run the implementation of a skill; its own calls go `through`.

        Raises ImplementationError where it can't be loaded, and whatever it raises.
        """
        bound = self._dispatcher.registry.skills.get(call.tool)
        if bound is None or bound.binding.load is None:
            raise NotFoundError(f"{call.tool} has no Python any more; cancel the run")
        implementation = await in_daemon_thread(bound.binding.load)
        around = _Through(self._dispatcher, through)
        context = CallContext(call, bound.spec, around, LONG_S, None)
        try:
            return await start(implementation, dict(_object(call)), lambda: context)
        finally:
            await context.close()


class _Through:
    """The services of a skill's Python: a dispatcher whose calls the run records."""

    def __init__(self, dispatcher: Dispatcher, through: Through) -> None:
        self.resources = dispatcher.resources
        self.open_client = dispatcher.open_client
        self._through = through

    async def dispatch(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Pass the call to the run, which dispatches and records it."""
        del on_event
        return await self._through(call.tool, _object(call))


def _object(call: Call) -> Mapping[str, Any]:
    assert isinstance(call.arguments, Mapping)
    return call.arguments
