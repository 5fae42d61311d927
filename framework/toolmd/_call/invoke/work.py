"""Run the work of one call: its batches and tries, each within the limits."""

from typing import Any

from toolmd._call.denial import CallDenied
from toolmd._call.invoke.batch import in_pieces, joined, skipped_note
from toolmd._call.invoke.context import CallContext
from toolmd._call.invoke.start import Arguments, start
from toolmd._call.invoke.tries import Tries
from toolmd._call.limits.call_limits import CallLimits
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.registry import Implementation
from toolmd._types.result import Failure
from toolmd.errors import ToolError


class Work:
    """A running call."""

    def __init__(
        self,
        call_spec: ToolCallSpec,
        implementation: Implementation,
        context: CallContext,
        tries: Tries,
        limits: CallLimits,
    ) -> None:
        self._call_spec = call_spec
        self._implementation = implementation
        self._context = context
        self._tries = tries
        self._limits = limits
        self.notes: tuple[str, ...] = ()
        """Which items of a batch are missing from the result."""
        self.begun = False
        """Whether the implementation started; before it may wait for a thread or a resource."""

    async def do(self, arguments: Arguments) -> Any:
        """Return the implementation's value. Raises what its last try raised."""
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
                await self._context.again(f"{first}+{len(piece)}")
            starts += 1
            return await self._tried({**arguments, name: piece})

        pieces = await in_pieces(items, batch.size, run)
        self.notes = skipped_note(name, pieces)
        return joined(pieces, of_arrays="array" in self._call_spec.returns.types)

    async def _tried(self, arguments: Arguments) -> Any:
        async def once() -> Any:
            return await start(self._implementation, arguments, self._context, self._begin)

        async def again() -> None:
            await self._limits.wait(self._tries.left)
            await self._context.again()

        return await self._tries.of(once, again)

    def _begin(self) -> None:
        self.begun = True

    async def _next_start(self, name: str, first: int) -> None:
        try:
            await self._limits.wait(self._tries.left)
        except CallDenied as denial:
            failure = denial.failure
            assert isinstance(failure, Failure)
            done = f"The first {first} items of {name} were done."
            raise ToolError(f"{failure.message} {done}", code=failure.code) from None
