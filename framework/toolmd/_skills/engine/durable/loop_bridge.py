"""Two event loops and the way between them: runs are played in one, tools live in the other."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from toolmd._skills.journal import Executor, Through
from toolmd._types.call import Call
from toolmd._types.result import Result

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LoopBridge:
    """A loop, with the context variables of whoever lives in it."""

    loop: asyncio.AbstractEventLoop
    context: Context

    @classmethod
    def here(cls) -> "LoopBridge":
        """Give the side on which this runs."""
        return cls(asyncio.get_running_loop(), copy_context())

    async def do(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await work on this side, from whichever loop; here where this loop is closed."""
        if self.loop is asyncio.get_running_loop() or not self.loop.is_running():
            return await work()

        async def there() -> T:
            return await work()

        context = self.context.copy()
        future = context.run(asyncio.run_coroutine_threadsafe, there(), self.loop)
        return await asyncio.wrap_future(future)


class FarExecutor:
    """The executor of a run that is played on another side than its tools live on."""

    def __init__(self, executor: Executor, tools: LoopBridge) -> None:
        self._executor = executor
        self._tools = tools

    async def call(self, call: Call) -> Result:
        """Take a call through the door."""
        return await self._tools.do(lambda: self._executor.call(call))

    async def confirm(self, held: str, call: Call) -> Result:
        """Approve a held call by its id."""
        return await self._tools.do(lambda: self._executor.confirm(held, call))

    async def reject(self, held: str, call: Call) -> None:
        """Drop a held call by its id."""
        await self._tools.do(lambda: self._executor.reject(held, call))

    async def python(self, call: Call, through: Through) -> Any:
        """Run the implementation of a skill; its calls come back to be recorded."""
        played = LoopBridge.here()

        async def back(name: str, arguments: Mapping[str, Any]) -> Result:
            return await played.do(lambda: through(name, arguments))

        return await self._tools.do(lambda: self._executor.python(call, back))
