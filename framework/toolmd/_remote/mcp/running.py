"""A request in progress, whose outcome goes to a caller in any event loop."""

import asyncio
import os
import secrets
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

from toolmd._remote.mcp.error import LostAnswerError

ANSWER_S = 600.0
"""How long a server waits for a person's answer, in seconds: as long as a confirmation."""

Result = TypeVar("Result")
_Waiter = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]"]
"""The loop of a caller, and its future there."""

_PREFIX = secrets.token_urlsafe(9)
_NUMBERS = count(1)


class NotSentError(asyncio.CancelledError):
    """The caller was cancelled while it waited for the server; nothing was sent."""


async def in_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Result]) -> Result:
    """Return what `work` returns in a loop; a caller who is cancelled cancels it."""
    if loop is asyncio.get_running_loop():
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


class Running:
    """One request to a server. A question of the server is an outcome, too."""

    def __init__(self, definition: str, over: Callable[["Running"], None]) -> None:
        """Begin to wait for an outcome in the loop that runs now.

        `definition` is the accepted one of the tool; `over` is called once the request has ended.
        """
        self.name = f"{_PREFIX}-{os.getpid()}-{next(_NUMBERS)}"
        """The name under which a question finds it again."""
        self.definition = definition
        self.stop: Callable[[], object] = self.end
        """Ends the request for a caller who is cancelled; called in the sessions' loop."""
        self._over = over
        self._answer: asyncio.Future[Any] | None = None
        self._is_over = False
        self.wait_again()

    def wait_again(self) -> None:
        """Wait for one more outcome, in the loop that runs now."""
        caller = asyncio.get_running_loop()
        self._waiter: _Waiter = (caller, caller.create_future())

    async def outcome(self, sessions: asyncio.AbstractEventLoop) -> Any:
        """Return the outcome or raise it; a caller who is cancelled stops the request."""
        try:
            return await self._waiter[1]
        except asyncio.CancelledError:
            sessions.call_soon_threadsafe(self._give_up)
            raise

    @property
    def is_asking(self) -> bool:
        """Whether its server waits for a person's answer."""
        return self._answer is not None

    async def ask(self, question: Any) -> Any:
        """Return what is answered to a question; raises TimeoutError where nobody answers."""
        self._answer = asyncio.get_running_loop().create_future()
        self._tell(question)
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._answer
        finally:
            self._answer = None

    def answer(self, value: Any) -> None:
        """Answer the question; called in the sessions' loop."""
        if self._is_over or self._answer is None or self._answer.done():
            self._tell(None, LostAnswerError("the server does not wait any more"))
        else:
            self._answer.set_result(value)

    def start(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Settle with what `work` returns or raises, in the sessions' loop, which calls this."""
        task = asyncio.get_running_loop().create_task(self._run(work))
        self.stop = task.cancel
        task.add_done_callback(lambda _: self.end())

    def settle(self, value: Any, error: BaseException | None = None) -> None:
        """End with an outcome; called in the sessions' loop."""
        self.end()
        self._tell(value, error)

    def end(self) -> None:
        """Note that the request has ended."""
        self._is_over = True
        self._over(self)

    def _give_up(self) -> None:
        # `start` may set it only after the caller was cancelled.
        self.stop()

    async def _run(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        try:
            self.settle(await work())
        except asyncio.CancelledError:
            self.settle(None, LostAnswerError("the session was closed"))
            raise
        except BaseException as error:  # noqa: BLE001 - it goes to the caller
            self.settle(None, error)

    def _tell(self, value: Any, error: BaseException | None = None) -> None:
        # Nobody waits where the caller's loop was closed.
        caller, outcome = self._waiter
        with suppress(RuntimeError):
            if caller is asyncio.get_running_loop():
                _settle(outcome, value, error)
            else:
                caller.call_soon_threadsafe(_settle, outcome, value, error)


def _settle(outcome: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if outcome.done():
        return
    if error is None:
        outcome.set_result(value)
    else:
        outcome.set_exception(error)
