"""The run check: run the implementation under its deadline and build the Result."""

import asyncio
import contextlib
from collections.abc import Coroutine
from time import perf_counter
from typing import Any

from toolmd._call.denial import AGAIN_MS, CallDenied
from toolmd._call.invoke.context import CallServices
from toolmd._call.invoke.offline import API_OFFLINE, asked_wait, is_late, line_fault, was_unsent
from toolmd._call.invoke.tries import retries_of
from toolmd._call.invoke.work import Arguments, Work
from toolmd._call.limits import CallLimits, DeadlineError, InterruptedCallError, within
from toolmd._call.result.answer import AnswerError, answer_of
from toolmd._call.result.returned import Remarks, build_result
from toolmd._call.result.truncate import UNBOUND, bounds_of
from toolmd._call.threads import in_daemon_thread, is_from_outside
from toolmd._egress import DomainNotApprovedError
from toolmd._types.asked import Asked, InputRequiredError
from toolmd._types.call import Call
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S
from toolmd._types.registry import Binding, BoundTool, Implementation
from toolmd._types.result import EventListener, Failure, Outcome, Result
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
        self._holds_sensitive = any(p.shape.holds_sensitive for p in call_spec.parameters)
        self._answer = answer_of(call_spec.name, call_spec.returns)
        self._bounds = bounds_of(call_spec.limits, None)
        self._runs_once = call_spec.limits.max_batch is None and not retries_of(call_spec)
        self.seconds = call_spec.limits.timeout_s or DEFAULT_TIMEOUT_S
        """The time of a run."""
        self._implementation: Implementation | None = None
        self.implementation_hash = ""
        """The hex sha256 of the Python that runs; empty where `prepare` has loaded none."""

    def run(
        self, call: Call, arguments: Arguments, began: float, on_event: EventListener | None
    ) -> Coroutine[Any, Any, Result]:
        """Run a call that passed every check; only cancellation raises."""
        if self._holds_sensitive:
            return self._run_hiding(call, arguments, began, on_event)
        return self._run(call, arguments, began, on_event)

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
            implementation = self._implementation or await self._loaded()
        except Exception as error:  # noqa: BLE001 - an implementation that can't be loaded did not start
            return self._settle(error, call.id, began, 0)
        work = Work(
            call, self._call_spec, implementation, self._dispatcher, self._limits, seconds, on_event
        )
        try:
            try:
                async with within(seconds):
                    value = await (work.once if self._runs_once else work.do)(arguments)
            finally:
                if work.context is not None:
                    await work.context.close()
            if isinstance(value, Result):
                # Raised for a call that this tool made: its outcome becomes this call's outcome.
                if not value.success:
                    return self._passed_on(value, call.id, began, work.made)
                result = self._result(value.data, work, call, arguments, began)
                if value.parts:
                    result = result._replace(parts=value.parts)
            else:
                result = self._result(value, work, call, arguments, began)
            return result if work.tries is None else result._replace(attempts=work.made)
        except BaseException as error:  # noqa: BLE001 - an exception of a tool stays in its call
            waited = isinstance(error, DeadlineError) and not work.begun
            failed = self._settle(error, call.id, began, 0 if waited else work.made)
            return failed._replace(notes=work.notes) if work.notes else failed

    def _result(
        self, value: Any, work: Work, call: Call, arguments: Arguments, began: float
    ) -> Result:
        """Build the Result of a value. Raises AnswerError for what no result can contain."""
        bounds = self._bounds
        if call.budget is not None:
            bounds = bounds_of(self._call_spec.limits, call.budget)
        remarks = None if work.context is None else work.context.remarks
        if remarks is None and bounds == UNBOUND and not work.notes:
            try:
                return self._answer(value, call.id, began)
            except AnswerError:
                pass  # It may have content parts, which `build_result` finds.

        def answer(value: Any, text: bytes | None = None) -> Result:
            return self._answer(value, call.id, began, text)

        remarks = remarks or Remarks(self._call_spec.name)
        return build_result(value, bounds, remarks, arguments, work.notes, answer)

    def _passed_on(
        self, result: Result, call_id: str | None, began: float, attempts: int
    ) -> Result:
        """Return another call's failed result as this call's."""
        ms = (perf_counter() - began) * 1000
        name = self._call_spec.name
        made = result._replace(tool=name, tool_call_id=call_id, attempts=attempts, duration_ms=ms)
        if result.confirmation is None:
            return made
        # This call has run, so its result must not look like a pending confirmation.
        waits = Failure("confirmation_required", f"{result.tool} waits for a person to decide.")
        return made._replace(outcome="failed", message="", error=waits, confirmation=None)

    async def prepare(self) -> None:
        """Import the Python in a thread; a failure is reported where the function is needed."""
        if self._implementation is None and (await self._decided()).load is not None:
            with contextlib.suppress(Exception):
                await self._loaded()

    async def _loaded(self) -> Implementation:
        binding = await self._decided()
        if binding.load is not None and not (binding.ready and binding.ready()):
            await in_daemon_thread(binding.load)
        return self._load()

    async def _decided(self) -> Binding:
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
                outcome, failure = self._late(error, begun=attempts > 0)
            case CallDenied(failure=Failure() as failure):
                outcome, attempts = "denied", 0
            case DomainNotApprovedError() | SuspendedToolError():
                outcome, failure = "denied", Failure(error.code, hidden(str(error)))
            case NotLoadedError():
                failure = self._crashed(error)._replace(retry_after_ms=AGAIN_MS)
            case ToolError():
                unnamed = fault is not None and error.code == ToolError.CODE
                failure = Failure(
                    API_OFFLINE if unnamed else error.code, _short(hidden(str(error)))
                )
            case AnswerError():
                failure = Failure("tool_error", hidden(f"{name} ran, but {error}"))
            case _ if is_from_outside(error):
                raise error
            case Exception() if fault is not None:
                outcome, failure = self._unreachable(fault, attempts)
            case Exception() | SystemExit() | KeyboardInterrupt() | asyncio.CancelledError():
                failure = self._crashed(error)
            case _:
                raise error
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

    def _unreachable(self, fault: BaseException, attempts: int) -> tuple[Outcome, Failure]:
        """Return the failure of a service that did not answer; the log has the cause."""
        name = self._call_spec.name
        reference = logged(fault, "%s can't reach its service", name)
        tried = f"{attempts} tries" if attempts > 1 else "one try"
        message = f"{name} could not reach its service in {tried} (reference {reference})."
        if self._call_spec.is_repeatable or was_unsent(fault):
            message = f"{message} It may be called again later."
            asked_ms = round(asked_wait(fault) * 1000) or None
            return "failed", Failure(API_OFFLINE, message, retry_after_ms=asked_ms)
        message = f"{message} {_PERHAPS_DONE}"
        if is_late(fault):
            return "unknown", Failure("outcome_unknown", message)
        return "failed", Failure(API_OFFLINE, message)

    def interrupted(self, call: Call, began: float, why: str) -> Result:
        """Return the Result of a call that began and can't go on; `why` follows the tool's name."""
        return self._settle(InterruptedCallError(why), call.id, began)

    def _late(self, error: DeadlineError, *, begun: bool) -> tuple[Outcome, Failure]:
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

    def _crashed(self, error: BaseException) -> Failure:
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


def _short(message: str) -> str:
    """Return a tool's own message, shortened for a model."""
    return message if len(message) <= MAX_MESSAGE else f"{message[: MAX_MESSAGE - 1]}…"


def _is_off(error: BaseException, fault: BaseException | None) -> bool:
    """Return whether a run failed because its service is offline, not by its own timeout."""
    return fault is not None and not isinstance(error, DeadlineError | CallDenied | AnswerError)
