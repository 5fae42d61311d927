"""Connect two event loops: runs execute in one, their tools in the other."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from toolmd._skills.journal import Executor, Through
from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd.errors import current_hide, hiding

T = TypeVar("T")


async def in_thread(function: Callable[[], T]) -> T:
    """Run a blocking function in a thread, without DBOS's context of the current step."""
    return await asyncio.get_running_loop().run_in_executor(None, function)


@dataclass(frozen=True, slots=True)
class LoopBridge:
    """A loop, with the context variables of its caller."""

    loop: asyncio.AbstractEventLoop
    context: Context

    @classmethod
    def here(cls) -> "LoopBridge":
        """Return the bridge to the current loop."""
        return cls(asyncio.get_running_loop(), copy_context())

    async def do(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await work in this loop from any other; in the current one where this loop is closed."""
        if self.loop is asyncio.get_running_loop() or not self.loop.is_running():
            return await work()

        hide = current_hide()

        async def there() -> T:
            with hiding(hide):
                return await work()

        context = self.context.copy()
        future = context.run(asyncio.run_coroutine_threadsafe, there(), self.loop)
        return await asyncio.wrap_future(future)


class FarExecutor:
    """The executor of a run whose tools live in another loop."""

    def __init__(self, executor: Executor, tools: LoopBridge) -> None:
        self._executor = executor
        self._tools = tools

    async def call(self, call: Call) -> Result:
        """Send a call through the dispatcher."""
        return await self._tools.do(lambda: self._executor.call(call))

    async def confirm(self, held: str, call: Call, by: str | None = None) -> Result:
        """Approve a confirmation by its id."""
        return await self._tools.do(lambda: self._executor.confirm(held, call, by))

    async def reject(self, held: str, call: Call, by: str | None = None) -> None:
        """Reject a confirmation by its id."""
        await self._tools.do(lambda: self._executor.reject(held, call, by))

    async def python(self, call: Call, through: Through) -> Any:
        """Run the implementation of a skill; its calls return to the run's loop to be recorded."""
        run_loop = LoopBridge.here()

        async def back(name: str, arguments: Mapping[str, Any]) -> Result:
            return await run_loop.do(lambda: through(name, arguments))

        return await self._tools.do(lambda: self._executor.python(call, back))
