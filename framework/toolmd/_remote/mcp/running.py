"""Work in the event loop of the sessions, whose outcome goes to a caller in any loop."""

import asyncio
import os
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from toolmd._remote.mcp.error import LostAnswerError, NotStartedError

ANSWER_S = 600.0
"""How long a server waits for a person's answer, in seconds: as long as a confirmation."""

_PREFIX = secrets.token_urlsafe(9)
_NUMBERS = count(1)


class NotSentError(asyncio.CancelledError):
    """The caller was cancelled while it waited for the server; nothing was sent."""


class Running:
    """One call in the sessions' loop. A question of its server is an outcome, too."""

    def __init__(self) -> None:
        """Begin to wait for an outcome in the loop that runs now."""
        self.name = f"{_PREFIX}-{os.getpid()}-{next(_NUMBERS)}"
        """The name under which a question finds it again."""
        self.task: asyncio.Task[None] | None = None
        self._lock = threading.Lock()
        self._is_begun = self._is_given_up = False
        self._answer: asyncio.Future[Any] | None = None
        self.wait_again()

    def wait_again(self) -> None:
        """Wait for one more outcome, in the loop that runs now."""
        self._caller = asyncio.get_running_loop()
        self._outcome: asyncio.Future[Any] = self._caller.create_future()

    async def outcome(self, sessions: asyncio.AbstractEventLoop) -> Any:
        """Return the outcome or raise it; a caller who is cancelled cancels the work.

        Raises NotSentError for a caller who is cancelled before the work began.
        """
        try:
            return await self._outcome
        except asyncio.CancelledError:
            with self._lock:
                self._is_given_up = True
            sessions.call_soon_threadsafe(self.cancel)
            if not self._is_begun:
                raise NotSentError from None
            raise

    def begin(self) -> None:
        """Note that something may be sent from now on; raises CancelledError if nobody waits."""
        with self._lock:
            if self._is_given_up:
                raise asyncio.CancelledError
            self._is_begun = True

    def cancel(self) -> None:
        """Cancel the work; called in the sessions' loop."""
        if self.task is not None:
            self.task.cancel()

    @property
    def is_asking(self) -> bool:
        """Whether its server waits for a person's answer."""
        return self._answer is not None

    async def ask(self, question: Any) -> Any:
        """Return what is answered to a question; raises TimeoutError where nobody answers."""
        self._answer = asyncio.get_running_loop().create_future()
        self.settle(question)
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._answer
        finally:
            self._answer = None

    def answer(self, value: Any) -> None:
        """Answer the question; called in the sessions' loop."""
        if self._answer is None or self._answer.done():
            self.settle(None, LostAnswerError("the server does not wait any more"))
        else:
            self._answer.set_result(value)

    def settle(self, value: Any, error: BaseException | None = None) -> None:
        """Pass an outcome to the caller; called in the sessions' loop."""
        # Nobody waits where the caller's loop was closed.
        with suppress(RuntimeError):
            if self._caller is asyncio.get_running_loop():
                _settle(self._outcome, value, error)
            else:
                self._caller.call_soon_threadsafe(_settle, self._outcome, value, error)

    def start(self, work: Callable[["Running"], Any]) -> None:
        """Run the work as a task of the sessions' loop, which calls this."""
        self.task = asyncio.get_running_loop().create_task(self._run(work))

    async def _run(self, work: Callable[["Running"], Any]) -> None:
        try:
            self.settle(await work(self))
        except asyncio.CancelledError:
            why = "the session was closed"
            self.settle(None, LostAnswerError(why) if self._is_begun else NotStartedError(why))
            raise
        except BaseException as error:  # noqa: BLE001 - it goes to the caller
            self.settle(None, error)


def _settle(outcome: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if outcome.done():
        return
    if error is None:
        outcome.set_result(value)
    else:
        outcome.set_exception(error)
