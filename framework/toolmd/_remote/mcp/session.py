"""One session with a server: a task of its own opens, keeps and closes it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from toolmd._remote.fence import fence_of, fenced
from toolmd._remote.mcp.answer import hidden_in
from toolmd._remote.mcp.asking import asked_by, asked_in, responses_of
from toolmd._remote.mcp.calls import params_of
from toolmd._remote.mcp.error import LostAnswerError, NotListedError, NotStartedError
from toolmd._remote.mcp.listing import Listing, ToolList
from toolmd._remote.mcp.running import Running
from toolmd._remote.mcp.stdio import MAX_LINE, MAX_SHOWN, ServerProcess, run_server, telling
from toolmd._remote.mcp.tap import ReadTap, WriteTap
from toolmd._types.asked import Asked
from toolmd._types.settings import ServerSettings
from toolmd.config.servers import needed_variables, secret_values
from toolmd.config.services import filled
from toolmd.errors import ToolError

_CLOSED = -32000


class Session:
    """A session, opened by its first call and closed by `close`."""

    def __init__(self, name: str, server: ServerSettings, folder: Path) -> None:
        """Keep the name and the table of a server, and the project's folder."""
        self.name = name
        self.used = time.monotonic()
        """When it was used last."""
        self.running: dict[str, Running] = {}
        """The calls in progress, by their names."""
        self.tools = ToolList(server.start_timeout)
        """The tools that the server lists."""
        self._server = server
        self._folder = folder
        self._client: Any = None
        self._process: ServerProcess | None = None
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ended = False
        self._secrets: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Return whether messages can be sent."""
        if self._client is None or self._ended:
            return False
        return self._process is None or self._process.is_alive

    def hide(self, text: str) -> str:
        """Return a text without the values of the table's variables."""
        for secret in self._secrets:
            text = text.replace(secret, "[hidden]")
        return text

    async def open(self) -> None:
        """Start the server and list its tools; raises NotStartedError with the reason."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own(ready))
        try:
            async with asyncio.timeout(self._server.start_timeout):
                await asyncio.shield(ready)
        except TimeoutError:
            said = f"it did not answer within {self._server.start_timeout:g} s"
            if self._server.command:
                said += "; run its command once by hand, in case it is still being downloaded"
            await self._give_up(NotStartedError(said))
        except asyncio.CancelledError:
            await self.close()
            raise
        except Exception as error:  # noqa: BLE001 - whatever the client raises
            await self._give_up(error)

    async def close(self) -> None:
        """Close the session and end the server's process, before the event loop may close."""
        self._stop.set()
        if self._task is not None:
            for _ in range(2):
                await asyncio.wait([self._task], timeout=3 * _END_S)
                self._task.cancel()

    async def listing(self) -> Listing:
        """Return the server's tools; raises NotListedError with the reason."""
        try:
            return await self.tools.get()
        except Exception as error:
            raise NotListedError(self.hide(self._reason_of(error))[:MAX_SHOWN]) from error

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        on_progress: Any,
        answered: Asked | None = None,
    ) -> Any:
        """Return the server's result of a call, or the question that it asks first.

        `answered` is its last question with the person's answer. Raises LostAnswerError where the
        connection ended, and ToolError for a rejected request and for the server's errors.
        """
        from mcp import MCPError

        more: dict[str, Any] = {}
        if answered is not None:
            more = {"input_responses": responses_of(answered), "request_state": answered.state}
        try:
            for wait in _POLLS:
                result = await self._sent(tool, dict(arguments), on_progress, more)
                if result.result_type != "input_required":
                    return result
                if result.input_requests:
                    return self._hidden(asked_in(self.name, result, answered))
                # The server only wants the state back, later.
                await asyncio.sleep(wait)
                more = {"request_state": result.request_state}
        except MCPError as error:
            # Over stdio, each of them is the server's own.
            if self._process is None and (error.error.code == _CLOSED or not self.is_open):
                why = self.hide(self._reason_of(error))
                raise LostAnswerError(f"the server {self.name} did not answer: {why}") from error
            said = self.hide(error.error.message)
            raise ToolError(f"The server answered with an error: {said}") from None
        except ConnectionError as error:
            raise LostAnswerError(f"the server {self.name} ended: {self._reason()}") from error
        except ValueError as error:
            message = "The server's tool ran, but its answer does not follow the protocol."
            raise ToolError(message) from error
        raise LostAnswerError(f"the server {self.name} did not finish the call")

    async def _sent(
        self, tool: str, arguments: dict[str, Any], on_progress: Any, more: dict[str, Any]
    ) -> Any:
        """Return the server's result, checked against the protocol."""

        async def told(progress: float, total: float | None, message: str | None) -> None:
            await on_progress(progress, total, self.hide(message) if message else message)

        if self._process is None:
            return await self._client.session.call_tool(
                tool, arguments, progress_callback=told, allow_input_required=True, **more
            )
        return await self._process.calls.call(params_of(tool, arguments, more), told)

    def _hidden(self, asked: Asked) -> Asked:
        form = hidden_in(asked.form, self.hide)
        return asked._replace(prompt=self.hide(asked.prompt), form=form)

    async def _ask(self, context: Any, params: Any) -> Any:
        """Pass a question on to the caller whose call is in progress, and return the answer."""
        from mcp_types import INVALID_REQUEST, ElicitResult, ErrorData

        del context
        if len(self.running) != 1:
            message = "Several calls are in progress, so nobody knows which one asks."
            return ErrorData(code=INVALID_REQUEST, message=message)
        (running,) = self.running.values()
        if running.is_asking:
            # The answer to one question must not reach another.
            message = "Its last question is not answered yet: ask one after the other."
            return ErrorData(code=INVALID_REQUEST, message=message)
        with suppress(TimeoutError):
            return await running.ask(self._hidden(asked_by(self.name, params, running.name)))
        return ElicitResult(action="cancel")

    async def _own(self, ready: "asyncio.Future[None]") -> None:
        try:
            async with AsyncExitStack() as stack:
                self._client = await stack.enter_async_context(self._connected())
                await self.tools.begin(self._client)
                if not ready.done():
                    ready.set_result(None)
                await self._until_end()
        except BaseException as error:  # noqa: BLE001 - `open` reports it
            if not ready.done():
                ready.set_exception(
                    error if isinstance(error, Exception) else RuntimeError("it was cancelled")
                )
                # Nobody may wait for it any more, and asyncio would log it then.
                ready.exception()
        finally:
            self._ended = True

    async def _until_end(self) -> None:
        """Wait until the session is closed, or its process ends."""
        waits = [asyncio.create_task(self._stop.wait())]
        if self._process is not None:
            waits.append(asyncio.create_task(self._process.ended.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            self.tools.end()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        from mcp import Client

        lacking = [name for name in needed_variables(self._server) if not os.environ.get(name)]
        if lacking:
            raise NotStartedError(f"the environment variable {', '.join(lacking)} is not set")
        self._secrets = secret_values(self._server, os.environ)
        transport = self._process_streams() if self._server.command else self._http()
        async with Client(
            transport,
            mode="auto",
            cache=None,
            message_handler=self.tools.heard,
            elicitation_callback=self._ask,
        ) as client:
            yield client

    @asynccontextmanager
    async def _process_streams(self) -> AsyncIterator[Any]:
        env = {key: filled(text, os.environ) for key, text in self._server.env.items()}
        fence = fence_of(self._server.folders, self._server.hosts)
        command = await asyncio.to_thread(fenced, self._server.command, fence, self._folder, env)
        async with run_server(command, env, self._folder) as server:
            self._process = server
            yield ReadTap(server.receive, self.tools.tap), WriteTap(server.send, self.tools.tap)

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[Any]:
        from mcp.client.streamable_http import streamable_http_client

        from toolmd._remote.mcp.bounded import open_bounded_client

        headers = {key: filled(text, os.environ) for key, text in self._server.headers.items()}
        async with (
            open_bounded_client(self._server.url, headers, MAX_LINE) as client,
            streamable_http_client(
                self._server.url, http_client=client, max_sse_event_size=MAX_LINE
            ) as (read, write),
        ):
            yield ReadTap(read.__anext__, self.tools.tap), WriteTap(write.send, self.tools.tap)

    async def _give_up(self, error: BaseException) -> None:
        await self.close()
        told = self.hide(self._process.errors) if self._process is not None else ""
        ending = telling(told)
        said = self.hide(self._reason_of(error))[:MAX_SHOWN]
        raise NotStartedError(f"{said}; its stderr says: {ending}" if ending else said)

    def _reason_of(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        code = getattr(getattr(error, "error", None), "code", None)
        if code == _CLOSED and self._process is not None:
            return self._reason()
        if isinstance(error, NotStartedError):
            return str(error)
        if isinstance(error, TimeoutError):
            return f"it did not answer within {self._server.start_timeout:g} s"
        if said := getattr(getattr(error, "error", None), "message", ""):
            return str(said)
        return f"{type(error).__name__}: {error}".rstrip(": ")

    def _reason(self) -> str:
        if self._process is None:
            return "the connection was closed"
        if self._process.problem:
            return self._process.problem
        code = self._process.process.returncode
        return "its process ended" if code is None else f"its process ended with exit code {code}"


_END_S = 2.0
_POLLS = (0.05, 0.1, *[0.25] * 40)
"""The waits, in seconds, where a server wants to be asked again; all within the call's time."""
