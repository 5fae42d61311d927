"""One session with a server: its calls, from any event loop, and what the server asks."""

import asyncio
import json
import math
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from toolmd._gateway import (
    CLOSED,
    GONE,
    UNREADABLE,
    LostAnswerError,
    NotListedError,
    NotStartedError,
)
from toolmd._gateway.answers import check_output, without_secrets
from toolmd._gateway.connection import Connection, Listing
from toolmd._gateway.stdio import MAX_SHOWN
from toolmd._types.asked import Asked
from toolmd._types.context import Context
from toolmd._types.settings import ServerSettings
from toolmd.errors import ToolError

MOST_ROUNDS = 8
"""How often one call may be interrupted by a question."""
_MOST_BYTES = 1 << 20
"""The most bytes of the forms and the state of a result: each answer is stored with them."""
_MAX_PROMPT = 2_000
_REASONS = {
    "sampling/createMessage": "a reply of your model, which Toolmd passes to no server",
    "roots/list": "a list of your folders, which Toolmd passes to no server",
}


def asked_in(server: str, result: Any, before: Asked | None) -> Asked:
    """Return the first question of a result; raises ToolError for what is rejected."""
    rounds = 1 if before is None else before.rounds + 1
    if rounds + len(result.input_requests) - 1 > MOST_ROUNDS:
        message = f"The server {server} asks more than {MOST_ROUNDS} questions in one call."
        raise ToolError(message)
    questions = []
    for key, request in result.input_requests.items():
        if request.method in _REASONS:
            raise ToolError(f"The server {server} asks for {_REASONS[request.method]}.")
        questions.append((key, *_question(server, request.params)))
    key, prompt, form = questions[0]
    size = len(result.request_state or "") + len(json.dumps(questions))
    if size > _MOST_BYTES:
        raise ToolError(f"The server {server} asks with more than {_MOST_BYTES:,} bytes.")
    return Asked(prompt, form, key, result.request_state, tuple(questions[1:]), rounds=rounds)


def asked_by(server: str, params: Any, parked: str) -> Asked:
    """Return the question of a server that waits for the answer meanwhile."""
    prompt, form = _question(server, params)
    return Asked(prompt, form, parked=parked)


def following(asked: Asked) -> Asked | None:
    """Return the next question of the same answer, with this one answered; None for the last."""
    if not asked.others:
        return None
    (key, prompt, form), *rest = asked.others
    return asked._replace(
        prompt=prompt, form=form, key=key, others=tuple(rest), answers=_answered(asked),
        action="", content={}, rounds=asked.rounds + 1,
    )  # fmt: skip


def responses_of(asked: Asked) -> dict[str, Any]:
    """Return the answers for a server by the keys of its questions."""
    from mcp_types import ElicitResult

    return {key: ElicitResult(**answer) for key, answer in _answered(asked).items()}


def _answered(asked: Asked) -> Mapping[str, Any]:
    content = dict(asked.content) if asked.action == "accept" and asked.fields else None
    return {**asked.answers, asked.key: {"action": asked.action, "content": content}}


def _question(server: str, params: Any) -> tuple[str, dict[str, Any]]:
    """Return the prompt and the form of an elicitation; raises ToolError for an odd URL."""
    said = " ".join(params.message.split())[:_MAX_PROMPT]
    prompt = f"The server {server} asks: {said}"
    if params.mode == "url":
        if not _is_web(params.url):
            raise ToolError(f"The server {server} asks to open what is no address of a web page.")
        return f"{prompt} Open {params.url}, and confirm when you are done.", {"type": "object"}
    return prompt, dict(params.requested_schema)


def _is_web(url: str) -> bool:
    """Return whether a URL is one of a web page, without signs that hide another in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    is_plain = url.isprintable() and " " not in url
    return is_plain and parts.scheme in {"http", "https"} and bool(parts.hostname)


ANSWER_S = 600.0
"""How long a server waits for a person's answer, in seconds: as long as a confirmation."""

Result = TypeVar("Result")
_Waiter = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]"]
"""The loop of a caller, and its future there."""

_PREFIX = secrets.token_urlsafe(9)
_NUMBERS = count(1)


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


Report = Callable[[float, float | None, str | None], None]
"""Takes the progress, its total and a text."""

_MOST_WAITING = 100
"""The most reports that wait for the caller; older ones are left out."""
_MAX_TEXT = 500


class ProgressReports:
    """The reports of one call, in the order in which the server sent them."""

    def __init__(self, context: Context) -> None:
        """Pass reports on to a context, in the event loop that runs now."""
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[str, float | None]] = deque(maxlen=_MOST_WAITING)
        self._task: asyncio.Task[None] | None = None

    def add(self, progress: float, total: float | None, text: str | None) -> None:
        """Pass one report on, from any thread; what is no number is left out."""
        done, whole = _number(progress), _number(total)
        if done is None:
            return
        share = done / whole if whole and 0 <= done <= whole else None
        said = text or f"{done:g}{f' of {whole:g}' if whole else ''}"
        self._waiting.append((said[:_MAX_TEXT], share))
        if len(self._waiting) == 1:
            # Nobody waits where the caller's loop was closed.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._pass_on())

    async def _pass_on(self) -> None:
        while self._waiting:
            text, share = self._waiting.popleft()
            # A listener that fails does not end the call.
            with suppress(Exception):
                await self._context.progress(text, share)


def _number(value: float | None) -> float | None:
    """Return a finite number; None for what is none."""
    try:
        number = math.nan if value is None else float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


_POLLS = (0.05, 0.1, *[0.25] * 40)
"""The waits, in seconds, where a server wants to be asked again; all within the call's time."""

_BROKEN = "The server's tool ran, but its answer does not follow the protocol."


class Session:
    """A session; `open` and `close` belong to one event loop, all else to any."""

    def __init__(
        self, name: str, server: ServerSettings, folder: Path, user: str | None = None
    ) -> None:
        """Keep the name and the table of a server, the project's folder, and whose it is."""
        self.name = name
        self.used = time.monotonic()
        """When it was used last."""
        self.running: dict[str, Running] = {}
        """The requests in progress, by their names."""
        self._connection = Connection(server, folder, self._ask, user)
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
