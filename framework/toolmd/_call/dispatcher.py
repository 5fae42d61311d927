"""The dispatcher: every call, from every interface, goes through its checks, in order, and runs."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from time import perf_counter, time
from typing import TYPE_CHECKING, Any

from toolmd._call.arguments import read
from toolmd._call.audit.recorder import Recorder
from toolmd._call.checks import Parts, Passage, check_call
from toolmd._call.compiled import CompiledTool
from toolmd._call.context import Resources
from toolmd._call.crisis import CrisisWatch, with_flag
from toolmd._call.denial import CallDenied, denial_of, deny, guard_failed
from toolmd._call.invoke import Invoker
from toolmd._call.keyed import KeyedCalls, key_with
from toolmd._call.limits import MACHINE, CallLimits, Place, PlaceLostError, Timing
from toolmd._call.result import allowed, denied, waits
from toolmd._call.telemetry import metrics_of, tracing_of
from toolmd._call.threads import AROUND
from toolmd._call.words import AskIntent, UserWords, reads_words
from toolmd._egress import Approved, open_client
from toolmd._store.store import Store
from toolmd._types.asked import InputRequiredError
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.confirmation import By, Confirmation
from toolmd._types.identity import Identity
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.result import EventListener, Result
from toolmd._types.settings import Settings
from toolmd._types.verdict import ALLOWED, Action, Verdict
from toolmd._validation import ArgumentsValidator
from toolmd.errors import did_you_mean, is_a_skill, logged, near_tools
from toolmd.hooks import Guard

if TYPE_CHECKING:
    # A call without confirmation and audit does not wait for these imports.
    from toolmd._call.audit.log import AuditLog
    from toolmd._call.confirmations import Confirmations

LOST_PLACE = "was stopped, since its place under Max Concurrent was lost with the store"
LOST_QUESTION = "began, and its server asked for input; the question could not be stored"
INPUT_REQUIRED = Verdict(
    Action.CONFIRM, "input_required", "The tool's server asks the user for input first."
)


class Dispatcher:
    """The entry of all calls of one snapshot."""

    def __init__(  # noqa: PLR0913 - what a snapshot brings, by keyword
        self,
        registry: Registry,
        settings: Settings,
        *,
        store: Store,
        resources: Resources | None = None,
        guards: Callable[[BoundTool], Sequence[Guard]] | None = None,
        before: Callable[[Call, BoundTool], None] | None = None,
        after: Callable[[Call, BoundTool, Result], None] | None = None,
        clock: Callable[[], float] = time,
        provider: Any = None,
        meters: Any = None,
        timing: Timing = MACHINE,
        origins: Callable[[str], Iterable[str]] | None = None,
        doubt: Callable[[], tuple[str, ...]] | None = None,
        ask_intent: AskIntent | None = None,
        log: "AuditLog | None" = None,
    ) -> None:
        """Open the pipeline; `clock` returns seconds since the epoch, `timing` serves the limits.

        `provider` and `meters` are OpenTelemetry's; None uses the installed ones. `store`,
        `log` outlive this; without a log there is no audit. `origins` returns what the operator
        approved in addition to Allowed Domains, `doubt` the words of doubt of plugins, and
        `ask_intent` asks plugins about the user's words.
        """
        self.registry = registry
        self.resources = resources
        self.settings = settings
        self.store = store
        self._identity = Identity.of(settings)
        self.clock = clock
        self._timing = timing
        self._guards = guards
        self._before, self._after = before, after
        self._origins = origins
        self.recorder = Recorder(log, clock)
        self._tracing, self._metrics = tracing_of(provider), metrics_of(meters)
        self._has_observers = bool(after or self._metrics)
        if self._metrics is not None:
            self._metrics.pending(len(registry.pending_changes))
        self._words = UserWords(registry, store, doubt, ask_intent)
        self._keyed = KeyedCalls(store)
        self._crisis_message = settings.safety.crisis_message
        words = settings.safety.crisis_words
        self.crisis = CrisisWatch(registry, words, store, clock, self._words)
        self.tools: dict[str, CompiledTool] = {}
        """The tools that were called, with their checks, by name."""
        self._approved: dict[str, Approved] = {}
        """What the tools may reach, by name."""

    async def find(self, call: Call) -> CompiledTool:
        """Return the tool of a call with its checks. Raises CallDenied where there is none.

        The first call of a tool may run plugins and compile Rules in a thread, so that the event
        loop stays free.
        """
        if (known := self.tools.get(name := call.tool)) is not None:
            return known
        bound = self.registry.tools.get(name)
        if bound is None:
            read(call)
            raise deny("unknown_tool", self._unknown(name))
        if self._guards is None:
            return self._compile(bound)
        compiled: CompiledTool = await AROUND.run(lambda: self._compile(bound))
        return compiled

    def _unknown(self, name: str) -> str:
        """Return the message about a tool that is not there for models; it names none of those."""
        if (folded := name.replace("-", "_")) in self.registry.skills:
            return f"{is_a_skill(folded)}."
        tools = self.registry.tools.items()
        known = {one: bound.call_spec for one, bound in tools if bound.call_spec.model_invocation}
        hint = did_you_mean(name, near_tools(name, known), 3) or "it is not in this project."
        if (error := self.registry.error_of(folded)) is not None:
            hint = f"it is suspended, because its file is broken: {error}"
        return f"There is no tool {name[:64]!r}; {hint}"

    def _compile(self, tool: BoundTool) -> CompiledTool:
        """Build the checks of a tool and its invoker; it may ask plugins. Raises CallDenied."""
        spec = tool.call_spec
        try:
            guards = tuple(self._guards(tool)) if self._guards is not None else ()
            limits = CallLimits(
                spec, self.store, self._timing, zone=self.settings.time_zone, clock=self.clock
            )
            if self._origins is not None:
                self._reach(spec)
            if reads_words(spec):
                _ = self._words.doubt  # A plugin whose words can't be read lets no call pass.
            parts = Parts(
                spec, self.settings, tool.default_min, self._words, guards, limits,
                ArgumentsValidator(
                    spec.parameters, ignore_unknown=spec.unknown_parameters == "ignore",
                    # What another program assumes is not sent to it.
                    fill=tool.binding.kind != "remote",
                ),
                self.store, self.clock, self.dispatch,
            )  # fmt: skip
            compiled = CompiledTool(tool, parts, Invoker(tool, self, limits))
        except Exception as error:  # noqa: BLE001 - a restriction that can't be read denies every call
            raise guard_failed(tool.name, "policy", error) from None
        # Two threads may both compile the tool: the first one is kept.
        return self.tools.setdefault(tool.name, compiled)

    @cached_property
    def confirmations(self) -> "Confirmations":
        """The calls that wait for a person, opened with the first one."""
        from toolmd._call.confirmations import Confirmations

        return Confirmations(self)

    async def dispatch(
        self, call: Call, on_event: EventListener | None = None, *, once: bool = False
    ) -> Result:
        """Check a call in order, and run it; the first check that fails gives the answer.

        With `once`, a call that its host named and whose question was stored before is not made
        again: its question, or the result of the decision, is the answer.
        """
        began = perf_counter()
        try:
            if call.caller.context:
                caller = self._identity.typed(call.caller)
                call = call if caller is call.caller else call._replace(caller=caller)
            if self.crisis.words or call.caller.conversation is not None:
                call = await self.with_crisis_flag(call)  # size
                call = await self._words.hear(call)
            check_call(call)  # syntax
            tool = self.tools.get(call.tool) or await self.find(call)  # lookup
            at = Passage(call, began, on_event)
            verdict = await tool.check(at)  # context, arguments, confidence, …, confirmation
            call = at.call
            if call.key is not None and call.is_named:
                call = at.call = call._replace(key=key_with(call.key, at.arguments))
            known = await self.confirmations.outcome(tool, call, began) if once else None
            if known is not None:
                result = known
            elif verdict is not ALLOWED:
                if tool.escalates(at):
                    at.call = call = await self.crisis.flag_by_conversation(with_flag(call))
                result = await self._stop(tool, at, verdict)
            elif call.dry_run:
                await tool.limits.check(call, at.arguments)  # limits
                result = allowed(call, began)
            else:
                result = await self.run(at)  # limits, run
                corrects = tool.may_wait and call.caller.conversation is not None
                if corrects and result.success:
                    try:
                        result = await self.confirmations.end_corrected(tool, at, result)
                    except Exception as error:  # noqa: BLE001 - it has run: too late to deny it
                        logged(error, "a call that %s corrects may still wait", call.tool)
            if at.notes:
                result = result._replace(notes=(*result.notes, *at.notes))
        except Exception as error:  # noqa: BLE001 - any exception in a check denies
            result = await self.denied(call, error, began)
        return self.finish(call, result) if self._has_observers or call.caller.crisis else result

    async def run(self, at: Passage) -> Result:
        """Run a call that no check stopped, within its limits, and once under its key.

        Its server may ask for input: then it waits for the answer. Raises CallDenied.
        """
        call = at.call
        tool = self.tools.get(call.tool) or await self.find(call)
        try:
            if not tool.is_keyed or not call.is_named or at.again:
                if tool.limits.binds or call.counts:
                    return await self._run_within_limits(tool, at)
                return await self._run_at(None, tool, at)
            return await self._keyed.once(
                call, tool.call_spec, tool.invoker.seconds, at.began,
                lambda: self._run_within_limits(tool, at),
            )  # fmt: skip
        except InputRequiredError as error:
            at.call = call._replace(asked=error.asked)
            try:
                return await self._stop(tool, at, INPUT_REQUIRED)
            except Exception as failed:  # noqa: BLE001 - the call has begun: too late to deny it
                logged(failed, "the question of %s could not be stored", call.tool)
                return tool.invoker.interruption(call, at.began, LOST_QUESTION)

    async def _run_within_limits(self, tool: CompiledTool, at: Passage) -> Result:
        """Wait for the limits, record that the call runs now, and run it.

        Raises CallDenied where the wait is too long or the record can't be written.
        """
        call, result = at.call, None
        try:
            async with tool.limits.place(call, at.arguments, at.on_event) as place:
                result = await self._run_at(place, tool, at)
                if result.error is not None:
                    place.had_effect = result.error.had_effect
        except Exception as error:
            if result is None:
                raise
            # The call has run: too late to deny it.
            logged(error, "the place of a call of %s stays for a while", call.tool)
        return result

    async def _run_at(self, place: Place | None, tool: CompiledTool, at: Passage) -> Result:
        """Record that a call runs now, at its place if its limits need one, and run it."""
        call = at.call
        if self.recorder.keeps and await self.recorder.write(
            "run", call, tool, at.arguments, at.by
        ):
            # It waited for the disk: the call lost its turn, and other calls may have too.
            await tool.limits.wait_again(call)
        caller = call.caller
        has_words = at.by is not None or caller.message or caller.earlier
        if caller.conversation is not None and has_words and not tool.keeps_words:
            await self._words.use(call)
        if self._before is not None:
            self._observe(self._before, call, tool.bound)
        running = tool.invoker.run(call, at.arguments, at.began, at.on_event)
        if self._tracing is not None:
            running = self._tracing.ran(call, tool.bound, running)
        if place is None or place.name is None:
            return await running
        try:
            return await tool.limits.hold(place.name, running)
        except PlaceLostError:
            return tool.invoker.interruption(call, at.began, LOST_PLACE)

    async def _stop(self, tool: CompiledTool, at: Passage, verdict: Verdict) -> Result:
        """Deny a call, or store it for a person's confirmation."""
        if verdict.action is Action.DENY:
            raise denial_of(verdict)
        if tool.limits.quotas or at.call.counts:  # Nobody is asked about a call that can't start.
            await tool.limits.quotas.look(at.call, at.arguments)
        one = await self.confirmations.add(tool, at.call, at.arguments, verdict)
        result = self.waits(tool, one, at.began)
        # A run keeps the question, so it gets it without Sensitive values.
        return result if at.call.is_of_a_run else result._replace(confirmation=one.opened())

    def waits(self, tool: CompiledTool, one: Confirmation, began: float) -> Result:
        """Return the Result of a call that waits for a person."""
        result = waits(one, began)
        if self._tracing is not None and not one.call.dry_run:
            self._tracing.stopped(one.call, tool.bound, result, "")
        return result

    async def denied(
        self, call: Call, error: Exception, began: float, by: By | None = None
    ) -> Result:
        """Return the Result of a call that a check denied, or in which a check crashed."""
        denial = error if isinstance(error, CallDenied) else guard_failed(call.tool, "gate", error)
        tool = self.tools.get(call.tool)
        if self.recorder.keeps:
            await self.recorder.denied(call, tool, denial, by)
        result = denied(call, denial, began)
        if self._tracing is not None and not call.dry_run:
            bound = None if tool is None else tool.bound
            self._tracing.stopped(call, bound, result, denial.failure.code)
        return result

    def finish(self, call: Call, result: Result) -> Result:
        """Add the crisis flag to a result, count it, and call the after-hook."""
        if call.caller.crisis:
            told = (self._crisis_message,) if self._crisis_message else ()
            result = result._replace(crisis=True, notes=(*told, *result.notes))
        bound = self.registry.tools.get(call.tool)
        if self._metrics is not None:
            known = bound is not None or call.tool in self.registry.skills
            self._metrics.end(call, result, known=known)
        if self._after is not None and bound is not None:
            self._observe(self._after, call, bound, result)
        return result

    async def finish_run(self, call: Call, result: Result) -> Result:
        """Finish a result that no call of a tool made, with the crisis flag of its message."""
        with suppress(CallDenied):  # The result is there, and its flag can't be known.
            call = await self.crisis.flag_by_message(call)
        return self.finish(call, result)

    @staticmethod
    def _observe(hook: Callable[..., None], *told: object) -> None:
        try:
            hook(*told)
        except Exception as error:  # noqa: BLE001 - an observer stops no call
            logged(error, "a listener to calls failed")

    async def with_crisis_flag(self, call: Call) -> Call:
        """Return a call with the crisis flag, if its message or conversation has it now."""
        call = await self.crisis.flag_by_message(call)
        return await self.crisis.flag_by_conversation(call)

    async def hear(self, caller: Caller) -> None:
        """Note the message of a user that led to no call.

        Raises CallDenied and UnreachableError where the store can't be used.
        """
        await self.crisis.hear(caller)
        await self._words.hear(Call("", {}, caller=caller))

    async def escalates(self, call: Call) -> bool:
        """Return whether a call with valid arguments meets its tool's Crisis When."""
        with suppress(CallDenied):
            tool = await self.find(call)
            return tool.escalates(await tool.read(call))
        return False

    def open_client(self, call_spec: CallSpec, seconds: float) -> Any:
        """Open the HTTP client of one call, with its deadline in seconds."""
        return open_client(call_spec.name, self._reach(call_spec), seconds)

    def _reach(self, call_spec: CallSpec) -> Approved:
        """Return what a tool may reach. The first time plugins are asked, which may block."""
        name, origins = call_spec.name, tuple[str, ...]()
        if (known := self._approved.get(name)) is not None:
            return known
        if isinstance(call_spec, ToolCallSpec):
            try:
                origins = tuple(self._origins(name)) if self._origins is not None else ()
            except Exception as error:  # noqa: BLE001 - a failure approves nothing
                logged(error, "the approved origins of %s can't be determined", name)
            domains = call_spec.limits.allowed_domains
            approved = Approved(call_spec.source.path, domains, origins)
        else:
            approved = Approved(call_spec.source.path)  # A skill itself may reach nothing.
        return self._approved.setdefault(name, approved)

    async def deny_unknown(self, call: Call) -> Result:
        """Deny the call of a tool that is unknown to models."""
        return await self.deny(call, "unknown_tool", self._unknown(call.tool))

    async def deny(self, call: Call, code: str, message: str) -> Result:
        """Deny a call before it reaches the pipeline."""
        known = False
        with suppress(CallDenied):  # It is denied anyway.
            call = await self.with_crisis_flag(call)
            known = True
        result = await self.denied(call, deny(code, message), perf_counter())
        return self.finish(call, result) if known else await self.finish_run(call, result)
