"""The run check: run the implementation under its deadline, in batches and tries."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from time import perf_counter
from types import CoroutineType
from typing import Any

from toolmd._call.batch import join_pieces, run_pieces, skipped_note
from toolmd._call.context import CallContext, CallServices
from toolmd._call.cut import Remarks
from toolmd._call.denial import AGAIN_MS, CallDenied, deny
from toolmd._call.limits import CallLimits
from toolmd._call.result import AnswerError, answer_of, as_json, lift_parts
from toolmd._call.threads import CALLS, in_daemon_thread, is_from_outside, run_on
from toolmd._egress import DomainNotApprovedError
from toolmd._types.asked import Asked, InputRequiredError
from toolmd._types.call import Call
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S, ToolCallSpec
from toolmd._types.registry import Binding, BoundTool, Implementation
from toolmd._types.result import Event, EventListener, Failure, Outcome, Result
from toolmd._types.verdict import Problem
from toolmd._validation import shown_value
from toolmd._validation.redact import hider
from toolmd.errors import (
    NotLoadedError,
    SuspendedToolError,
    ToolError,
    ToolmdError,
    hidden,
    hiding,
    logged,
)


class DeadlineError(Exception):
    """The call can't go on: its deadline passed, or its outcome can't be learned any more."""

    def __init__(self, why: str, seconds: float = 0.0, *, unsent: bool = False) -> None:
        super().__init__(why)
        self.seconds = seconds
        self.unsent = unsent
        """Whether the implementation waited for its server, and sent nothing."""


API_OFFLINE = "api_offline"
_TOO_MANY = 429
_PASSING = frozenset({_TOO_MANY, 502, 503, 504})


def line_fault(error: BaseException) -> BaseException | None:
    """Return the connection failure that an error is or was caused by; None otherwise.

    Connection failures are failed or broken connections, timeouts, and 429, 502, 503 and 504.
    """
    for cause in (error, error.__cause__):
        if isinstance(cause, ConnectionError | TimeoutError) or _is_of_httpx(cause):
            return cause
    return None


def retry_after_s(fault: BaseException) -> float:
    """Return the seconds that the service asks to wait (`Retry-After`); 0.0 if it does not."""
    response = getattr(fault, "response", None)
    asked = str(response.headers.get("retry-after", "")).strip() if response is not None else ""
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    # Few answers have a date, and a start does not wait for the import.
    from email.utils import parsedate_to_datetime

    try:
        return max(parsedate_to_datetime(asked).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def is_late(fault: BaseException) -> bool:
    """Return whether a connection failure is a timeout after data was sent."""
    if isinstance(fault, TimeoutError):
        return True
    httpx = _httpx()
    if httpx is None or not isinstance(fault, httpx.TimeoutException):
        return False
    return not isinstance(fault, httpx.ConnectTimeout | httpx.PoolTimeout)


def was_unsent(fault: BaseException) -> bool:
    """Return whether the other side certainly did nothing."""
    if isinstance(fault, ConnectionRefusedError):
        return True
    httpx = _httpx()
    if httpx is not None and isinstance(fault, httpx.HTTPStatusError):
        return bool(fault.response.status_code == _TOO_MANY)
    unsent = () if httpx is None else (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    return isinstance(fault, unsent)


def _is_of_httpx(error: BaseException | None) -> bool:
    httpx = _httpx()
    if httpx is None:
        return False
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in _PASSING
    # Retries don't help a request that can't be sent at all.
    wrong = httpx.UnsupportedProtocol | httpx.LocalProtocolError
    return isinstance(error, httpx.TransportError) and not isinstance(error, wrong)


def _httpx() -> Any:
    # An error of httpx exists only where httpx is imported.
    return sys.modules.get("httpx")


BACKOFF_S = 0.5
"""The wait in seconds before the first retry of a tool whose Limits name none."""


def retries_of(call_spec: ToolCallSpec) -> int:
    """Return how often a tool is tried again at most."""
    return (call_spec.limits.retries or 0) if call_spec.is_repeatable else 0


Arguments = dict[str, Any]


async def start(
    implementation: Implementation,
    arguments: Arguments,
    context: Callable[[], CallContext],
    begin: Callable[[], None] = lambda: None,
) -> Any:
    """Return what an implementation returns; raises what it raises.

    `context` returns the context of the call. `begin` is called when the function starts: a
    blocking one may wait for a thread first.
    """
    _, _, function, mode, names, converters, wanted, resources, *_ = implementation
    keywords = arguments
    if names or converters or wanted is not None or resources:
        keywords = await _keywords_of(implementation, arguments, context())
    if mode == "sync":
        value = await CALLS.run(lambda: function(**keywords), begin)
    elif mode == "stream":
        begin()
        return await _last_of(function(**keywords), context())
    else:
        begin()
        value = function(**keywords)
        if type(value) is CoroutineType:
            return await value
    # Also of a sync function: a plain decorator around an async one.
    return await value if isinstance(value, Awaitable) else value


async def _keywords_of(
    implementation: Implementation, arguments: dict[str, Any], context: CallContext
) -> dict[str, Any]:
    """Return the call's keyword arguments: renamed, converted, with Context and resources.

    Raises CallDenied for a value that the parameter's annotated type rejects.
    """
    names, converters = implementation.names, implementation.converters
    keywords = {}
    for name, value in arguments.items():
        convert = converters.get(name)
        taken = value if convert is None else _converted(name, value, convert, context)
        keywords[names.get(name, name)] = taken
    if implementation.context is not None:
        keywords[implementation.context] = context
    for name, kind in implementation.resources.items():
        keywords[name] = await context.resource(kind)
    return keywords


def _converted(name: str, value: Any, convert: Callable[[Any], Any], context: CallContext) -> Any:
    try:
        return convert(value)
    except ValueError as error:
        # A reason may quote a Sensitive value.
        sensitive = context.is_sensitive(name)
        wanted = getattr(convert, "wanted", "")
        reasons = getattr(convert, "reasons", None)
        told = [] if sensitive or reasons is None else reasons(error, value, name)
        if not told:
            got = shown_value(value, sensitive=sensitive)
            message = f"{name} must be {wanted or 'what the tool can take'}; got {got}"
            problem = Problem("invalid_value", name, message, wanted, got)
            raise deny("invalid_arguments", message, (problem,)) from None
        problems = tuple(Problem("invalid_value", path, message) for path, message in told)
        message = "; ".join(problem.message for problem in problems)
        raise deny("invalid_arguments", message, problems) from None


async def _last_of(items: AsyncIterator[Any], context: CallContext) -> Any:
    """Return the last item of a stream; each item is an event."""
    last = None
    try:
        async for item in items:
            last = item
            found = lift_parts(item)
            data = as_json(item if found is None else found.value)
            await context.send(Event("item", context.tool, context.call_id, data))
    finally:
        if (close := getattr(items, "aclose", None)) is not None:
            await close()
    return last


@dataclass(slots=True)
class Work:
    """A running call; its context is built where the implementation takes one."""

    _call: Call
    _call_spec: ToolCallSpec
    _implementation: Implementation
    _dispatcher: CallServices
    _limits: CallLimits
    _seconds: float
    """The time until its deadline."""
    _on_event: EventListener | None
    context: CallContext | None = None
    made: int = 1
    """How often the implementation started, batches not counted."""
    notes: tuple[str, ...] = ()
    """Which items of a batch are missing from the result, or were done before it failed."""
    begun: bool = False
    """Whether the implementation started; before it may wait for a thread or a resource."""
    limit: asyncio.Timeout | None = None
    """The timer of a tool that waits."""

    @property
    def is_late(self) -> bool:
        """Whether its time is over."""
        return self.limit is not None and self.limit.expired()

    async def in_time(self, running: Coroutine[Any, Any, Any]) -> Any:
        """Return what a tool returns within its time; a tool that does not wait needs no timer."""
        began = perf_counter()
        try:
            waits_for = running.send(None)
        except StopIteration as done:
            return done.value
        async with asyncio.timeout(self._seconds - (perf_counter() - began)) as self.limit:
            return await run_on(running, waits_for)

    async def do(self, arguments: Arguments) -> Any:
        """Return the value of a tool with batches or tries. Raises what its last try raised."""
        until = self._limits.timing.now() + self._seconds
        batch = self._call_spec.limits.max_batch
        items = arguments.get(batch.parameter) if batch is not None else None
        if batch is None or not isinstance(items, list) or not items:
            return await self._try(arguments, until)
        name, whole = batch.parameter, len(items)
        starts = 0

        async def run(first: int, piece: list[Any]) -> Any:
            nonlocal starts
            if starts:
                await self._next_start(name, first, until)
            if len(piece) < whole:
                await self.open_context().again(f"{first}+{len(piece)}")
            starts += 1
            try:
                return await self._try({**arguments, name: piece}, until)
            except BaseException as error:
                if first and not isinstance(error, MemoryError):
                    self.notes = (_done(name, first),)
                raise

        pieces = await run_pieces(items, batch.size, run)
        self.notes = skipped_note(name, pieces)
        return join_pieces(pieces, of_arrays="array" in self._call_spec.returns.types)

    async def _try(self, arguments: Arguments, until: float) -> Any:
        """Return the value of the first try that succeeds; all tries end before the deadline.

        Raises what the last try raised.
        """
        limits, timing = self._limits, self._limits.timing
        backoff = self._call_spec.limits.backoff_s
        backoff = BACKOFF_S if backoff is None else backoff
        for number in range(retries_of(self._call_spec), -1, -1):
            try:
                return await start(self._implementation, arguments, self.open_context, self.begin)
            except Exception as error:
                fault = line_fault(error)
                if number == 0 or fault is None:
                    raise
                wait = max(backoff * (1 + timing.chance() / 4), retry_after_s(fault))
                if timing.now() + wait >= until:
                    raise
                await timing.sleep(wait)
                try:
                    await limits.wait(until - timing.now())
                except CallDenied:
                    # The limits allow no start before the deadline.
                    raise error from error.__cause__
            await self.open_context().again()
            backoff *= 2
            self.made += 1
        raise AssertionError("the last try returns or raises")

    def open_context(self) -> CallContext:
        """Return the context, built with the first use."""
        if self.context is None:
            self.context = CallContext(
                self._call, self._call_spec, self._dispatcher, self._seconds, self._on_event
            )
        return self.context

    def begin(self) -> None:
        """Note that the implementation starts."""
        self.begun = True

    async def _next_start(self, name: str, first: int, until: float) -> None:
        try:
            await self._limits.wait(until - self._limits.timing.now())
        except CallDenied as denial:
            failure = denial.failure
            raise ToolError(f"{failure.message} {_done(name, first)}", code=failure.code) from None


def _done(name: str, first: int) -> str:
    return f"The first {first} items of {name} were done."


class Invoker:
    """The invoker of one tool; its implementation is loaded on the first call."""

    def __init__(
        self,
        tool: BoundTool,
        dispatcher: CallServices,
        limits: CallLimits,
    ) -> None:
        """Keep the parts; `limits` are checked again before each further try."""
        call_spec = tool.call_spec
        self._tool = tool
        self._call_spec = call_spec
        self._dispatcher = dispatcher
        self._limits = limits
        self._answer = answer_of(call_spec.name, call_spec.returns)
        self._runs_once = call_spec.limits.max_batch is None and not retries_of(call_spec)
        self._in_parts = call_spec.limits.max_batch is not None
        sensitive = any(p.shape.holds_sensitive for p in call_spec.parameters)
        self.run = self._run_hiding if sensitive else self._run
        """Runs a call that passed every check; only cancellation raises."""
        self.seconds = call_spec.limits.timeout_s or DEFAULT_TIMEOUT_S
        """The time of a run."""
        self._implementation: Implementation | None = None
        self.implementation_hash = ""
        """The hex sha256 of the Python that runs; empty where `prepare` has loaded none."""

    async def _run_hiding(
        self, call: Call, arguments: Arguments, began: float, on_event: EventListener | None
    ) -> Result:
        """Run a call whose Sensitive values no message and no log may contain."""
        # Collected before the run: the tool may change its arguments.
        with hiding(hider(arguments, self._call_spec.parameters)):
            return await self._run(call, arguments, began, on_event)

    async def _run(
        self, call: Call, arguments: Arguments, began: float, on_event: EventListener | None
    ) -> Result:
        seconds = self.seconds
        if call.budget is not None:
            # A plan's time starts with the call, including its waits.
            left = call.budget.timeout_ms / 1000 - (perf_counter() - began)
            seconds = max(min(seconds, left), 0.001)
        try:
            implementation = self._implementation or await self._load_beside_loop()
        except Exception as error:  # noqa: BLE001 - an implementation that can't be loaded did not start
            failed = self._settle(error, call.id, began, 0)
            unstarted = failed.error and failed.error._replace(had_effect=False)
            return failed._replace(error=unstarted)
        work = Work(
            call, self._call_spec, implementation, self._dispatcher, self._limits, seconds, on_event
        )
        try:
            try:
                value = await work.in_time(
                    start(implementation, arguments, work.open_context, work.begin)
                    if self._runs_once
                    else work.do(arguments)
                )
            finally:
                if work.context is not None:
                    await work.context.close()
            parts = None
            if isinstance(value, Result):
                # Of a call that this tool made: its outcome becomes this call's outcome.
                if not value.success:
                    return self._pass_on(value, call.id, began, work.made)
                value, parts = value.data, value.parts
            result = self._answer(value, call.id, began)
            if work.context is not None or work.notes:
                remarks = Remarks() if work.context is None else work.context.remarks
                result = remarks.on(result, work.notes)
            if parts:
                result = result._replace(parts=parts)
            return result if work.made == 1 else result._replace(attempts=work.made)
        except BaseException as error:  # noqa: BLE001 - an exception of a tool stays in its call
            fault, made = error, work.made
            if work.is_late and isinstance(error, TimeoutError | NotSentError):
                unsent = isinstance(error, NotSentError) or isinstance(
                    error.__cause__, NotSentError
                )
                why = f"did not answer within {seconds:.3g} s"
                fault = DeadlineError(why, seconds, unsent=unsent)
                made = made if work.begun else 0
            failed = self._settle(fault, call.id, began, made)
            # A ToolError comes before a tool does anything, unless a part of it was done.
            nothing_done = isinstance(error, ToolError) and work.made == 1 and not self._in_parts
            if failed.error is not None and (
                not made or nothing_done or failed.outcome == "denied"
            ):
                failed = failed._replace(error=failed.error._replace(had_effect=False))
            return failed._replace(notes=work.notes) if work.notes else failed

    def _pass_on(self, result: Result, call_id: str | None, began: float, attempts: int) -> Result:
        """Return another call's failed result as this call's."""
        ms = (perf_counter() - began) * 1000
        name = self._call_spec.name
        made = result._replace(tool=name, tool_call_id=call_id, attempts=attempts, duration_ms=ms)
        if result.confirmation is None:
            return made
        # This call has run, so its result must not look like a pending confirmation.
        code, message = result.confirmation.waits_as, f"{result.tool} waits for a person to decide."
        waits = Failure(code, message)
        return made._replace(outcome="failed", message="", error=waits, confirmation=None)

    async def prepare(self) -> None:
        """Import the Python in a thread; a failure is reported where the function is needed."""
        if self._implementation is None and (await self._decide_binding()).load is not None:
            with contextlib.suppress(Exception):
                await self._load_beside_loop()

    async def _load_beside_loop(self) -> Implementation:
        binding = await self._decide_binding()
        if binding.load is not None and not (binding.ready and binding.ready()):
            await in_daemon_thread(binding.load)
        return self._load()

    async def _decide_binding(self) -> Binding:
        """Return where the Python is; a plugin that decides it runs next to the event loop."""
        if self._tool.late is not None:
            await in_daemon_thread(lambda: self._tool.binding)
        return self._tool.binding

    def may_answer(self, asked: Asked) -> bool:
        """Return whether this process can answer a question of the tool's server."""
        may_answer = self._implementation.may_answer if self._implementation is not None else None
        return not asked.parked or (may_answer is not None and may_answer(asked))

    def _load(self) -> Implementation:
        binding = self._tool.binding
        if binding.load is None:
            name, path = self._call_spec.name, self._call_spec.source.path
            why = [found.message for found in binding.inspect()] if binding.inspect else []
            told = "; ".join(why) or f"no Python is next to {path}"
            raise ToolError(f"{name} has no implementation: {told}", code="not_implemented")
        made = binding.load()
        self._implementation, self.implementation_hash = made, made.hash
        return made

    def _settle(
        self, error: BaseException, call_id: str | None, began: float, attempts: int = 1
    ) -> Result:
        """Build the Result of an exception; cancellation and the like are raised again."""
        name = self._call_spec.name
        fault = line_fault(error)
        outcome: Outcome = "failed"
        match error:
            case InputRequiredError() if self._call_spec.limits.max_batch is None:
                raise error
            case DeadlineError():
                outcome, failure = self._deadline_failure(error, begun=attempts > 0)
            case CallDenied(failure=Failure() as failure):
                outcome, attempts = "denied", 0
            case DomainNotApprovedError() | SuspendedToolError():
                outcome, failure = "denied", Failure(error.code, hidden(str(error)))
            case NotLoadedError():
                failure = self._crash_failure(error)._replace(retry_after_ms=AGAIN_MS)
            case ToolError():
                unnamed = fault is not None and error.code == ToolError.CODE
                failure = Failure(
                    API_OFFLINE if unnamed else error.code, _shorten(hidden(str(error)))
                )
            case AnswerError():
                failure = Failure("tool_error", hidden(f"{name} ran, but {error}"))
            case _ if is_from_outside(error):
                raise error
            case Exception() if fault is not None:
                outcome, failure = self._connection_failure(fault, attempts)
            case _:
                failure = self._crash_failure(error)
                worded = (one for one in self._call_spec.errors if one.fits(error))
                if (words := next(worded, None)) is not None:
                    failure = Failure(words.code, words.message)
        return Result(
            success=False,
            tool=name,
            outcome=outcome,
            error=failure,
            tool_call_id=call_id,
            attempts=attempts,
            duration_ms=(perf_counter() - began) * 1000,
            api_offline=failure.code == API_OFFLINE or _is_off(error, fault),
        )

    def _connection_failure(self, fault: BaseException, attempts: int) -> tuple[Outcome, Failure]:
        """Return the failure of a service that did not answer; the log has the cause."""
        name = self._call_spec.name
        # A trace names the project's Python, which a remote tool does not have.
        trace = self._tool.binding.kind != "remote"
        reference = logged(fault, "%s can't reach its service", name, trace=trace)
        tried = f"{attempts} tries" if attempts > 1 else "one try"
        message = f"{name} could not reach its service in {tried} (reference {reference})."
        if self._call_spec.is_repeatable or was_unsent(fault):
            message = f"{message} It may be called again later."
            asked_ms = round(retry_after_s(fault) * 1000) or None
            return "failed", Failure(API_OFFLINE, message, retry_after_ms=asked_ms)
        message = f"{message} {_PERHAPS_DONE}"
        if is_late(fault):
            return "unknown", Failure("outcome_unknown", message)
        return "failed", Failure(API_OFFLINE, message)

    def interruption(self, call: Call, began: float, why: str) -> Result:
        """Return the Result of a call that began and can't go on; `why` follows the tool's name."""
        return self._settle(DeadlineError(why), call.id, began)

    def _deadline_failure(self, error: DeadlineError, *, begun: bool) -> tuple[Outcome, Failure]:
        call_spec = self._call_spec
        if error.unsent:
            message = (
                f"The server of {call_spec.name} was not ready within {error.seconds:.3g} s."
                f" Nothing was sent. It may be called again."
            )
            return "failed", Failure("timeout", message)
        if not begun:
            message = (
                f"{call_spec.name} waited {error.seconds:.3g} s for its turn and never ran."
                f" It may be called again."
            )
            return "failed", Failure("timeout", message)
        within = f"{call_spec.name} {error}"
        if call_spec.is_repeatable:
            return "failed", Failure("timeout", f"{within}. It may be called again.")
        return "unknown", Failure("outcome_unknown", f"{within}. {_PERHAPS_DONE}")

    def _crash_failure(self, error: BaseException) -> Failure:
        name = self._call_spec.name
        reference = logged(error, "%s failed", name)
        if isinstance(error, ToolmdError):
            # A message for readers: it says why an implementation can't be loaded.
            return Failure("tool_error", f"{hidden(str(error))} (reference {reference})")
        message = f"{name} raised an error; its log reference is {reference}."
        return Failure("tool_error", message)


MAX_MESSAGE = 2000
"""The most characters of a ToolError's message that a model reads."""
_PERHAPS_DONE = "It may have taken effect all the same: look before calling it again."


def _shorten(message: str) -> str:
    """Return a tool's own message, shortened for a model."""
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


def _is_off(error: BaseException, fault: BaseException | None) -> bool:
    """Return whether a run failed because its service is offline, not by its own timeout."""
    return fault is not None and not isinstance(error, DeadlineError | CallDenied | AnswerError)


class NotSentError(asyncio.CancelledError):
    """The caller was cancelled while it waited for a server; nothing was sent."""
