"""One session with a server, whose tools may be called from any event loop."""

import asyncio
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from toolmd._remote.mcp.answer import without_secrets
from toolmd._remote.mcp.asking import asked_by, asked_in, responses_of
from toolmd._remote.mcp.checked import check_output
from toolmd._remote.mcp.connection import Connection
from toolmd._remote.mcp.error import (
    CLOSED,
    GONE,
    UNREADABLE,
    LostAnswerError,
    NotListedError,
    NotStartedError,
)
from toolmd._remote.mcp.listing import Listing
from toolmd._remote.mcp.progress import Report
from toolmd._remote.mcp.running import Running, in_loop
from toolmd._remote.mcp.stdio import MAX_SHOWN
from toolmd._types.asked import Asked
from toolmd._types.settings import ServerSettings
from toolmd.errors import ToolError

_POLLS = (0.05, 0.1, *[0.25] * 40)
"""The waits, in seconds, where a server wants to be asked again; all within the call's time."""

_BROKEN = "The server's tool ran, but its answer does not follow the protocol."


class Session:
    """A session; `open` and `close` belong to one event loop, all else to any."""

    def __init__(self, name: str, server: ServerSettings, folder: Path) -> None:
        """Keep the name and the table of a server, and the project's folder."""
        self.name = name
        self.used = time.monotonic()
        """When it was used last."""
        self.running: dict[str, Running] = {}
        """The requests in progress, by their names."""
        self._connection = Connection(server, folder, self._ask)
        self.open, self.close = self._connection.open, self._connection.close
        self.hide, self.tools = self._connection.hide, self._connection.tools
        self._is_retired = False
        self._lock = threading.Lock()

    @property
    def is_open(self) -> bool:
        """Return whether calls can be sent."""
        return self._connection.is_open and not self._is_retired

    def retire(self) -> bool:
        """Accept no more calls if none is in progress; return whether none is."""
        with self._lock:
            self._is_retired = not self.running
            return self._is_retired

    async def listing(self) -> Listing:
        """Return the server's tools, in any event loop; raises NotListedError with the reason."""
        if (known := self.tools.known) is not None:
            return known
        connection = self._connection
        try:
            return await in_loop(connection.loop, self.tools.get())
        except Exception as error:
            self._forget_if_gone(error)
            raise NotListedError(self.hide(connection.reason_of(error))[:MAX_SHOWN]) from error

    async def call(
        self,
        tool: str,
        definition: str,
        arguments: dict[str, Any],
        report: Report,
        answered: Asked | None = None,
    ) -> Any:
        """Return the server's result of a call, or the question that it asks first.

        It may be awaited in any event loop. `definition` is the accepted one of the tool, and
        `answered` the server's last question with the person's answer. Raises NotStartedError
        where the session is closed, LostAnswerError where the connection ended, and ToolError for
        a rejected request, for the server's errors and for a result that breaks its own schema.
        """
        more: dict[str, Any] = {}
        if answered is not None:
            more = {"input_responses": responses_of(answered), "request_state": answered.state}
        result = await self._outcome(self._sent(tool, definition, arguments, report, more))
        waits = iter(_POLLS)
        while not isinstance(result, Asked) and result.result_type == "input_required":
            if result.input_requests:
                return self._hidden(asked_in(self.name, result, answered))
            # The server only wants the state back, later.
            if (wait := next(waits, None)) is None:
                raise LostAnswerError(f"the server {self.name} did not finish the call")
            await asyncio.sleep(wait)
            more = {"request_state": result.request_state}
            try:
                sent = self._sent(tool, definition, arguments, report, more)
                result = await self._outcome(sent)
            except NotStartedError as error:
                # The first request was sent, and may have taken effect.
                raise LostAnswerError(f"the server {self.name} ended: {error}") from error
        return result

    async def resume(self, running: Running, answer: Any) -> Any:
        """Answer the question of a call that waits, and return its outcome as `call` does."""
        running.wait_again()
        self._connection.loop.call_soon_threadsafe(running.answer, answer)
        return await self._outcome(running)

    def _sent(
        self,
        tool: str,
        definition: str,
        arguments: dict[str, Any],
        report: Report,
        more: dict[str, Any],
    ) -> Running:
        """Send one request; raises NotStartedError where the session is closed."""

        def told(progress: float, total: float | None, text: str | None) -> None:
            report(progress, total, self.hide(text) if text else text)

        async def told_later(*progress: Any) -> None:
            told(*progress)

        connection, running = self._connection, Running(definition, self._end)
        with self._lock:
            if not self.is_open:
                raise NotStartedError("the session was closed")
            self.running[running.name] = running
        try:
            call = partial(connection.client.session.call_tool, tool, arguments)
            work = partial(call, progress_callback=told_later, allow_input_required=True, **more)
            connection.loop.call_soon_threadsafe(running.start, work)
        except BaseException:
            running.end()
            raise
        return running

    def _end(self, running: Running) -> None:
        """Note that a request has ended."""
        self.running.pop(running.name, None)
        self.used = time.monotonic()

    async def _outcome(self, running: Running) -> Any:
        """Return a result that follows the protocol and the tool's own schema, or a question."""
        from mcp import MCPError

        connection = self._connection
        try:
            result = await running.outcome(connection.loop)
        except MCPError as error:
            if self._forget_if_gone(error):
                raise NotStartedError("the server has forgotten the session") from error
            if error.error.code == UNREADABLE:
                raise ToolError(_BROKEN) from None
            # Over stdio, the code may be the server's own: the process tells whether it ended.
            is_closed = connection.process is None and error.error.code == CLOSED
            if is_closed or not self.is_open:
                why = self.hide(connection.reason_of(error))
                raise LostAnswerError(f"the server {self.name} did not answer: {why}") from error
            said = self.hide(error.error.message)
            raise ToolError(f"The server answered with an error: {said}") from None
        except ConnectionError as error:
            why = connection.reason()
            raise LostAnswerError(f"the server {self.name} ended: {why}") from error
        except ValueError as error:
            raise ToolError(_BROKEN) from error
        if getattr(result, "is_error", True) is False:
            await check_output(result, running.definition)
        return result

    def _forget_if_gone(self, error: Exception) -> bool:
        """Send no more where an error says that the server has forgotten the session."""
        code = getattr(getattr(error, "error", None), "code", None)
        is_gone = self._connection.process is None and code == GONE
        if is_gone:
            self._connection.forget()
        return is_gone

    def _hidden(self, asked: Asked) -> Asked:
        form = without_secrets(asked.form, self.hide)
        return asked._replace(prompt=self.hide(asked.prompt), form=form)

    async def _ask(self, context: Any, params: Any) -> Any:
        """Pass a question on to the caller whose call is in progress, and return the answer."""
        from mcp_types import INVALID_REQUEST, ElicitResult, ErrorData

        del context
        in_progress = list(self.running.values())
        if len(in_progress) != 1:
            message = "Several calls are in progress, so nobody knows which one asks."
            return ErrorData(code=INVALID_REQUEST, message=message)
        (running,) = in_progress
        if running.is_asking:
            # The answer to one question must not reach another.
            message = "Its last question is not answered yet: ask one after the other."
            return ErrorData(code=INVALID_REQUEST, message=message)
        try:
            asked = asked_by(self.name, params, running.name)
        except ToolError as error:
            return ErrorData(code=INVALID_REQUEST, message=str(error))
        with suppress(TimeoutError):
            return await running.ask(self._hidden(asked))
        return ElicitResult(action="cancel")
