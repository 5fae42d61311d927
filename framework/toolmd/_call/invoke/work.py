"""Run the work of one call: its batches and tries, each within the limits."""

from collections.abc import Coroutine
from typing import Any

from toolmd._call.denial import CallDenied
from toolmd._call.invoke.batch import in_pieces, joined, skipped_note
from toolmd._call.invoke.context import CallContext, CallServices
from toolmd._call.invoke.start import Arguments, start
from toolmd._call.invoke.tries import Tries
from toolmd._call.limits.call_limits import CallLimits
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.registry import Implementation
from toolmd._types.result import EventListener
from toolmd.errors import ToolError


class Work:
    """A running call; its context is built where the implementation takes one."""

    __slots__ = (
        "_call",
        "_call_spec",
        "_dispatcher",
        "_implementation",
        "_limits",
        "_on_event",
        "_seconds",
        "begun",
        "context",
        "notes",
        "tries",
    )

    def __init__(  # noqa: PLR0913, PLR0917 - what an invoker brings; by position it is faster
        self,
        call: Call,
        call_spec: ToolCallSpec,
        implementation: Implementation,
        dispatcher: CallServices,
        limits: CallLimits,
        seconds: float,
        on_event: EventListener | None,
    ) -> None:
        """Keep the parts; the deadline is in `seconds`."""
        self._call = call
        self._call_spec = call_spec
        self._implementation = implementation
        self._dispatcher = dispatcher
        self._limits = limits
        self._seconds = seconds
        self._on_event = on_event
        self.context: CallContext | None = None
        self.tries: Tries | None = None
        """The tries of a tool that may have several."""
        self.notes: tuple[str, ...] = ()
        """Which items of a batch are missing from the result."""
        self.begun = False
        """Whether the implementation started; before it may wait for a thread or a resource."""

    @property
    def made(self) -> int:
        """How often the implementation started, batches not counted."""
        return 1 if self.tries is None else self.tries.made

    def once(self, arguments: Arguments) -> Coroutine[Any, Any, Any]:
        """Return the value of a tool that has neither batches nor further tries."""
        return start(self._implementation, arguments, self._open, self._begin)

    async def do(self, arguments: Arguments) -> Any:
        """Return the implementation's value. Raises what its last try raised."""
        self.tries = Tries(self._call_spec, self._limits.timing, self._seconds)
        batch = self._call_spec.limits.max_batch
        items = arguments.get(batch.parameter) if batch is not None else None
        if batch is None or not isinstance(items, list) or not items:
            return await self._tried(arguments)
        name, whole = batch.parameter, len(items)
        starts = 0

        async def run(first: int, piece: list[Any]) -> Any:
            nonlocal starts
            if starts:
                await self._next_start(name, first)
            if len(piece) < whole:
                await self._open().again(f"{first}+{len(piece)}")
            starts += 1
            return await self._tried({**arguments, name: piece})

        pieces = await in_pieces(items, batch.size, run)
        self.notes = skipped_note(name, pieces)
        return joined(pieces, of_arrays="array" in self._call_spec.returns.types)

    async def _tried(self, arguments: Arguments) -> Any:
        tries = self.tries
        assert tries is not None

        async def again() -> None:
            await self._limits.wait(tries.left)
            await self._open().again()

        return await tries.of(lambda: self.once(arguments), again)

    def _open(self) -> CallContext:
        """Return the context, built with the first use."""
        if self.context is None:
            self.context = CallContext(
                self._call, self._call_spec, self._dispatcher, self._seconds, self._on_event
            )
        return self.context

    def _begin(self) -> None:
        self.begun = True

    async def _next_start(self, name: str, first: int) -> None:
        assert self.tries is not None
        try:
            await self._limits.wait(self.tries.left)
        except CallDenied as denial:
            failure, done = denial.failure, f"The first {first} items of {name} were done."
            raise ToolError(f"{failure.message} {done}", code=failure.code) from None
