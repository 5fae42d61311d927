"""The call pipeline: the checks in their order, until the call runs or is denied."""

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import nullcontext
from time import perf_counter
from typing import Any, NamedTuple

from toolmd._call.audit.recorder import By, Recorder
from toolmd._call.compiled import CompiledTool, CompiledTools
from toolmd._call.crisis import CrisisWatch, flagged
from toolmd._call.denial import denial_of, deny, overruled
from toolmd._call.keyed import KeyedCalls, key_with
from toolmd._call.limits import PlaceLostError
from toolmd._call.result import allowed, denied, ignored, waits
from toolmd._call.telemetry import Metrics, Tracing
from toolmd._call.words import UserWords
from toolmd._types.asked import InputRequiredError
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.result import EventListener, Result
from toolmd._types.verdict import ALLOWED, Action, Verdict
from toolmd.errors import logged


class Observers:
    """The hooks of one snapshot's calls; an exception in one is logged and stops nothing."""

    def __init__(
        self,
        registry: Registry,
        before: Callable[[Call, BoundTool], None] | None,
        after: Callable[[Call, BoundTool, Result], None] | None,
        metrics: Metrics | None = None,
    ) -> None:
        """Keep the hooks, and the metrics where a provider is installed."""
        self._metrics = metrics
        self._registry = registry
        self._after = after
        self.before = before
        self.has_observers = bool(after or metrics)
        """Whether a finished call has hooks to run or a metric."""

    def call_before_hook(self, call: Call, tool: CompiledTool) -> None:
        """Call the before-hook: the call runs now."""
        if self.before is not None:
            try:
                self.before(call, tool.bound)
            except Exception as error:  # noqa: BLE001 - an observer stops no call
                logged(error, "a listener to calls failed")

    def finish(self, call: Call, result: Result) -> Result:
        """Add the crisis flag to a result, count it, and call the after-hook."""
        if call.caller.crisis:
            result = result._replace(crisis=True)
        bound = self._registry.tools.get(call.tool)
        if self._metrics is not None:
            known = bound is not None or call.tool in self._registry.skills
            self._metrics.end(call, result, known=known)
        if self._after is not None and bound is not None:
            try:
                self._after(call, bound, result)
            except Exception as error:  # noqa: BLE001 - an observer stops no call
                logged(error, "a listener to calls failed")
        return result


MAX_CALL_DEPTH = 16
"""How deep calls may nest: tools that call tools must come to an end."""

LOST_PLACE = "was stopped, since its place under Max Concurrent was lost with the store"
LOST_QUESTION = "began, and its server asked for input; the question could not be stored"
INPUT_REQUIRED = Verdict(
    Action.CONFIRM, "input_required", "The tool's server asks the user for input first."
)


class Watch(NamedTuple):
    """The spans and metrics of calls, as far as they are recorded."""

    tracing: Tracing | None
    metrics: Metrics | None

    def stopped(self, call: Call, tool: CompiledTool | None, result: Result, code: str) -> None:
        """Record a span for a call that did not run."""
        if self.tracing is not None and not call.dry_run:
            self.tracing.stopped(call, None if tool is None else tool.bound, result, code)

    async def ran(self, tool: str, running: Coroutine[Any, Any, Result]) -> Result:
        """Count a call as running while it does."""
        if self.metrics is None:
            return await running
        self.metrics.run(tool, 1)
        try:
            return await running
        finally:
            self.metrics.run(tool, -1)


class Pipeline:
    """The checks of one snapshot's calls, in order."""

    def __init__(  # noqa: PLR0913 - what a dispatcher brings
        self,
        tools: CompiledTools,
        recorder: Recorder,
        observers: Observers,
        add: Callable[[CompiledTool, Call, dict[str, Any], Verdict], Awaitable[Confirmation]],
        watch: Watch,
        *,
        crisis: CrisisWatch,
        keyed: KeyedCalls,
        words: UserWords,
    ) -> None:
        """Keep the parts; `add` stores a call until a person decides."""
        self._keyed = keyed
        self._words = words
        self._watch = watch if any(watch) else None
        self._crisis = crisis
        self._has_words = bool(crisis.words)
        self._tools = tools
        self._used = tools.used
        self._recorder = recorder
        self._keeps = recorder.keeps
        self._observers = observers
        self._has_observers = observers.has_observers
        self.finish = observers.finish
        self._add = add

    async def dispatch(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Check a call in order, and run it; the first check that fails gives the answer."""
        began = perf_counter()
        try:
            if self._has_words or call.caller.conversation is not None:
                call = self._crisis.flag_by_message(call)
                call = await self._crisis.flag_by_conversation(call)
                call = await self._words.hear(call)
            if call.confidence is not None or call.depth:
                check_call(call)  # syntax
            tool = self._used(call.tool) or await self._tools.find(call)  # lookup
            if tool.needs_caller:
                tool.check_caller(call)  # context
            if tool.takes_handles:
                call = await self._tools.with_results(tool, call)
            arguments = tool.arguments(call)  # syntax and arguments, one pass over the text
            if call.key is not None and call.is_named:
                call = call._replace(key=key_with(call.key, arguments))
            note = ignored(tool.dropped(call.arguments)) if tool.ignores_unknown else ""
            # confidence, intent, review, confirmation
            verdict = await tool.verdict(call, arguments) if tool.checks else ALLOWED
            if verdict is not ALLOWED:
                if tool.escalates(call, arguments):
                    call = await self._crisis.flag_by_conversation(flagged(call))
                result = await self._stop(tool, call, arguments, verdict, began)
            elif call.dry_run:
                await tool.limits.check(call)  # limits
                result = allowed(call, began)
            else:
                result = await self.run(tool, call, arguments, began, on_event)  # limits, run
            if note:
                result = result._replace(notes=(*result.notes, note))
        except Exception as error:  # noqa: BLE001 - any exception in a check denies
            result = await self.denied(call, error, began)
        return self.finish(call, result) if self._has_observers or call.caller.crisis else result

    async def with_crisis_flag(self, call: Call) -> Call:
        """Return a call with the crisis flag, if its message or conversation has it now."""
        return await self._crisis.flag_by_conversation(self._crisis.flag_by_message(call))

    async def run(  # noqa: PLR0913 - a call, and how a person decided on it
        self,
        tool: CompiledTool,
        call: Call,
        arguments: dict[str, Any],
        began: float,
        on_event: EventListener | None = None,
        by: By | None = None,
        *,
        again: bool = False,
    ) -> Result:
        """Run a call that no check stopped, within its limits, and once under its key.

        Its server may ask for input: then it waits for the answer. `by` is the approval by a
        person, if any. With `again`, a call whose process died runs once more under its key.
        Raises CallDenied.
        """

        def run() -> Coroutine[Any, Any, Result]:
            return self._run_within_limits(tool, call, arguments, began, on_event, by)

        try:
            if not tool.is_keyed or not call.is_named or again:
                return await run()
            return await self._keyed.once(call, tool.call_spec, tool.invoker.seconds, began, run)
        except InputRequiredError as error:
            asks = call._replace(asked=error.asked)
            try:
                return await self._stop(tool, asks, arguments, INPUT_REQUIRED, began)
            except Exception as failed:  # noqa: BLE001 - the call has begun: too late to deny it
                logged(failed, "the question of %s could not be stored", call.tool)
                return tool.invoker.interrupted(call, began, LOST_QUESTION)

    async def _run_within_limits(
        self,
        tool: CompiledTool,
        call: Call,
        arguments: dict[str, Any],
        began: float,
        on_event: EventListener | None,
        by: By | None,
    ) -> Result:
        """Wait for the limits, record that the call runs now, and run it.

        Raises CallDenied where the wait is too long or the record can't be written.
        """
        limits, result = tool.limits, None
        try:
            async with limits.place(call, on_event) if limits.binds else nullcontext() as place:
                if self._keeps and await self._recorder.write("run", call, tool, arguments, by):
                    # It waited for the disk: the call lost its turn, and other calls may have too.
                    await limits.wait_again(call)
                await self._words.use(call)
                if self._observers.before is not None:
                    self._observers.call_before_hook(call, tool)
                running = tool.invoker.run(call, arguments, began, on_event)
                if self._watch is not None:
                    running = self._watch.ran(call.tool, running)
                try:
                    result = await (running if place is None else limits.hold(place, running))
                except PlaceLostError:
                    result = tool.invoker.interrupted(call, began, LOST_PLACE)
        except Exception as error:
            if result is None:
                raise
            # The call has run: too late to deny it.
            logged(error, "the place of a call of %s stays for a while", call.tool)
        return result

    async def _stop(
        self,
        tool: CompiledTool,
        call: Call,
        arguments: dict[str, Any],
        verdict: Verdict,
        began: float,
    ) -> Result:
        """Deny a call, or store it for a person's confirmation."""
        if verdict.action is Action.DENY:
            raise overruled(verdict)
        return self.waits(tool, await self._add(tool, call, arguments, verdict), began)

    def waits(self, tool: CompiledTool, one: Confirmation, began: float) -> Result:
        """Return the Result of a call that waits for a person."""
        call, result = one.call, waits(one, began)
        if self._watch is not None:
            self._watch.stopped(call, tool, result, "")
        return result

    async def denied(
        self, call: Call, error: Exception, began: float, by: By | None = None
    ) -> Result:
        """Return the Result of a call that a check denied, or in which a check crashed."""
        denial, tool = denial_of(call.tool, error), self._used(call.tool)
        if self._keeps:
            await self._recorder.denied(call, tool, denial, by)
        result = denied(call, denial, began)
        if self._watch is not None:
            code = "denied" if result.error is None else result.error.code
            self._watch.stopped(call, tool, result, code)
        return result


def check_call(call: Call) -> None:
    """Check that the confidence is 0 to 1, and that calls do not nest too deep.

    Raises CallDenied.
    """
    stated = call.confidence
    if stated is not None and (type(stated) not in _NUMBERS or not 0 <= stated <= 1):
        raise deny("malformed_call", "confidence must be a number from 0 to 1")
    if call.depth > MAX_CALL_DEPTH:
        raise deny("malformed_call", f"more than {MAX_CALL_DEPTH} tools call one another")


_NUMBERS = (int, float)
