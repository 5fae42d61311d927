"""Row 9: run the implementation under its deadline, and make a Result of what it gives."""

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine
from time import perf_counter
from typing import Any

from toolmark._call.answer import AnswerError, answer_of, as_json
from toolmark._call.context import CallContext, Listener, Surroundings
from toolmark._call.deadline import DEFAULT_S, DeadlineError, last_of, within
from toolmark._call.keywords import keywords_of
from toolmark._call.plain import PlainRun, Ways, plain_run
from toolmark._call.refusal import Refusal, logged
from toolmark._call.threads import in_thread
from toolmark._model.call import Call
from toolmark._model.registry import Bound, Implementation
from toolmark._model.result import Event, Failure, Outcome, Result
from toolmark._model.tool import ToolSpec
from toolmark._values import ArgumentsValidator
from toolmark.errors import ToolError, ToolmarkError

Arguments = dict[str, Any]


class Executor:
    """Runs one tool; its implementation is loaded on the first call."""

    def __init__(
        self, tool: Bound[ToolSpec], door: Surroundings, validator: ArgumentsValidator
    ) -> None:
        spec = tool.spec
        self._tool = tool
        self._spec = spec
        self._door = door
        self._validator = validator
        self._answer = answer_of(spec.name, spec.returns)
        self._seconds = spec.limits.timeout_s or DEFAULT_S
        self._implementation: Implementation | None = None
        self.plain: PlainRun | None = None
        """The quick way, once it is known that the function takes the arguments as they are."""

    def run(
        self, call: Call, arguments: Arguments, began: float, on_event: Listener | None
    ) -> Coroutine[Any, Any, Result]:
        """Run a call that passed every row; raises nothing but cancellation."""
        if self.plain is not None and call.budget is None:
            return self.plain(call.id, "", arguments)
        return self._run(call, arguments, began, on_event)

    async def _run(
        self, call: Call, arguments: Arguments, began: float, on_event: Listener | None
    ) -> Result:
        seconds = self._seconds
        if call.budget is not None:
            seconds = min(seconds, call.budget.timeout_ms / 1000)
        context = CallContext(call, self._spec, self._door, seconds, on_event)
        try:
            implementation = self._implementation or self._load()
            try:
                value = await within(start(implementation, arguments, context), seconds)
            finally:
                await context.close()
            return self._answer(value, call.id, began)
        except BaseException as error:  # noqa: BLE001 - whatever a tool does stays in its call
            return self._settle(error, call.id, began)

    def implementation_hash(self) -> str:
        """Give the hex sha256 of the Python that would run; empty where there is none to run."""
        try:
            return (self._implementation or self._load()).hash
        except Exception:  # noqa: BLE001 - running it says what is wrong
            return ""

    def _load(self) -> Implementation:
        load = self._tool.binding.load
        if load is None:
            name, path = self._spec.name, self._spec.source.path
            message = f"{name} has no implementation: no Python stands beside {path}"
            raise ToolError(message, code="not_implemented")
        made = load()
        self._implementation = made
        adapted = made.names or made.converters or made.context or made.resources
        if made.mode == "async" and not adapted and inspect.iscoroutinefunction(made.function):
            ways = Ways(self._answer, self._settle, self._door.take)
            self.plain = plain_run(self._spec, made.function, self._seconds, self._validator, ways)
        return made

    def _settle(self, error: BaseException, call_id: str | None, began: float) -> Result:
        """Make a Result of what a run raised; cancellation and the like go on."""
        name = self._spec.name
        outcome: Outcome = "failed"
        match error:
            case DeadlineError():
                outcome, failure = self._late(error.seconds)
            case Refusal(failure=Failure() as failure):
                outcome = "denied"
            case ToolError():
                failure = Failure(error.code, str(error))
            case AnswerError():
                failure = Failure("tool_error", f"{name} ran, but {error}")
            case asyncio.CancelledError() if _is_cancelled():
                raise error
            case Exception() | SystemExit() | asyncio.CancelledError():
                failure = self._crashed(error)
            case _:
                raise error
        ms = (perf_counter() - began) * 1000
        attempts = 0 if outcome == "denied" else 1
        return Result(
            success=False,
            tool=name,
            outcome=outcome,
            error=failure,
            tool_call_id=call_id,
            attempts=attempts,
            duration_ms=ms,
        )

    def _late(self, seconds: float) -> tuple[Outcome, Failure]:
        spec = self._spec
        within = f"{spec.name} did not answer within {seconds:g} s"
        if spec.read_only or spec.idempotent != "no":
            return "failed", Failure("timeout", f"{within}. It may be called again.")
        message = f"{within}. It may have taken effect all the same: look before calling it again."
        return "unknown", Failure("outcome_unknown", message)

    def _crashed(self, error: BaseException) -> Failure:
        name = self._spec.name
        reference = logged(error, "%s failed", name)
        if isinstance(error, ToolmarkError):
            # Written for whoever reads it: an implementation that can't be loaded says why.
            return Failure("tool_error", f"{error} (reference {reference})")
        message = f"{name} failed inside; its operator finds the reason under {reference}."
        return Failure("tool_error", message)


async def start(implementation: Implementation, arguments: Arguments, context: CallContext) -> Any:
    """Await what an implementation gives, in whichever way it runs; raises what it raises."""
    keywords = await keywords_of(implementation, arguments, context)
    function = implementation.function
    match implementation.mode:
        case "sync":
            return await in_thread(lambda: function(**keywords))
        case "stream":

            async def tell(item: Any) -> None:
                data = as_json(item)
                await context.tell(Event("item", context.tool, context.call_id, data))

            return await last_of(function(**keywords), tell)
        case _:
            value = function(**keywords)
            return await value if isinstance(value, Awaitable) else value


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
