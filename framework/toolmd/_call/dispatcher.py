"""The dispatcher: every call, from every interface, enters the call pipeline here."""

import hashlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from time import perf_counter, time
from typing import TYPE_CHECKING, Any

from toolmd._call.arguments import with_results
from toolmd._call.audit.recorder import Recorder
from toolmd._call.compiled import CompiledTools
from toolmd._call.context import Resources
from toolmd._call.crisis import CrisisWatch
from toolmd._call.denial import CallDenied, deny
from toolmd._call.keyed import KeyedCalls
from toolmd._call.limits import MACHINE, CallLimits, Timing
from toolmd._call.pipeline import Observers, Pipeline, Watch
from toolmd._call.telemetry import metrics_of, tracing_of
from toolmd._call.words import AskIntent, UserWords
from toolmd._egress import Approved, open_client
from toolmd._store.store import Store
from toolmd._types.call import NO_CONTEXT, Budget, Call, Caller
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.result import EventListener, Result
from toolmd._types.settings import Settings
from toolmd.errors import logged
from toolmd.hooks import Guard

if TYPE_CHECKING:
    # A call without confirmation and audit does not wait for these imports.
    from toolmd._call.audit.log import AuditLog
    from toolmd._call.confirmations import Confirmations


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
        self._settings = settings
        self._clock = clock
        self._clients = Clients(origins)
        self._store = store
        self._recorder = Recorder(log, clock)
        watch = Watch(tracing_of(settings, provider), metrics_of(meters))

        def limits(call_spec: ToolCallSpec) -> CallLimits:
            return CallLimits(call_spec.name, call_spec.limits, store, timing)

        self._words = UserWords(registry, store, doubt, ask_intent)
        self._tools = CompiledTools(
            registry, settings.safety, self,
            guards=guards, words=self._words, limits=limits, tracing=watch.tracing,
            approve=None if origins is None else self._clients.approved,
        )  # fmt: skip
        self.crisis = CrisisWatch(registry, settings.safety.crisis_words, self._store, clock)
        self._pipeline = Pipeline(
            self._tools, self._recorder, Observers(registry, before, after, watch.metrics),
            lambda *call: self.confirmations.add(*call),  # noqa: PLW0108 - opened on first use
            watch,
            crisis=self.crisis, keyed=KeyedCalls(self._store), words=self._words,
        )  # fmt: skip
        self.dispatch = self._pipeline.dispatch

    @cached_property
    def confirmations(self) -> "Confirmations":
        """The calls that wait for a person, opened with the first one."""
        from toolmd._call.confirmations import Confirmations

        return Confirmations(self._store, self._settings.safety, self._tools, self._recorder,
                             self._pipeline, self._clock)  # fmt: skip

    def call(  # noqa: PLR0913, PLR0917 - the public signature of a call; positional arguments are a third faster
        self,
        name: str,
        arguments: Mapping[str, Any] | str | bytes,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        context: Mapping[str, str] = NO_CONTEXT,
        conversation: str | None = None,
        dry_run: bool = False,  # noqa: FBT001, FBT002 - see above
        call_id: str | None = None,
        budget: Budget | None = None,
        on_event: EventListener | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Call a tool with an object or its JSON text; never raises but for cancellation."""
        caller = Caller(user, context, message, conversation)
        if idempotency_key is None and call_id is not None:
            idempotency_key = _key_of(call_id, name, caller)
        call = Call(name, arguments, call_id, confidence, caller, dry_run, budget, idempotency_key)
        return self.dispatch(call, on_event)

    def finish(self, call: Call, result: Result) -> Result:
        """Add the crisis flag to a result that no pipeline made, and call the after-hook."""
        with suppress(CallDenied):  # The result is there, and its flag can't be known.
            call = self.crisis.flag_by_message(call)
        return self._pipeline.finish(call, result)

    async def hear(self, caller: Caller) -> None:
        """Note the message of a user that led to no call.

        Raises CallDenied and UnreachableError where the store can't be used.
        """
        await self.crisis.heard(caller)
        await self._words.hear(Call("", {}, caller=caller))

    async def escalates(self, call: Call) -> bool:
        """Return whether a call with valid arguments meets its tool's Escalate When."""
        with suppress(CallDenied):
            tool = await self._tools.find(call)
            call = await self._tools.with_results(tool, call)
            return tool.escalates(call, tool.arguments(call))
        return False

    def open_client(self, call_spec: CallSpec, seconds: float) -> Any:
        """Open the HTTP client of one call, with its deadline in seconds."""
        return self._clients.open(call_spec, seconds)

    def with_results(self, call: Call, names: frozenset[str]) -> Call:
        """Return a call with earlier results in place of the handles among these arguments.

        It blocks. Raises CallDenied.
        """
        return with_results(call, names, self._store, self._clock())

    async def deny_reply(
        self, code: str, message: str, *, caller: Caller, dry_run: bool = False
    ) -> Result:
        """Deny a model's whole reply that can't be read: none of its calls runs."""
        return await self.deny(Call("", {}, caller=caller, dry_run=dry_run), code, message)

    async def deny(self, call: Call, code: str, message: str) -> Result:
        """Deny a call before it reaches the pipeline."""
        with suppress(CallDenied):  # It is denied anyway.
            call = await self._pipeline.with_crisis_flag(call)
        denied = await self._pipeline.denied(call, deny(code, message), perf_counter())
        return self.finish(call, denied)


def _key_of(call_id: str, name: str, caller: Caller) -> str:
    """Return the idempotency key of a call that its host named, before its arguments are added.

    Names in a model's reply make no keys.
    """
    whose = [call_id, caller.user, sorted(caller.context.items()), caller.conversation, name]
    return hashlib.sha256(repr(whose).encode(errors="replace")).hexdigest()[:32]


class Clients:
    """The clients of one snapshot's calls."""

    def __init__(self, origins: Callable[[str], Iterable[str]] | None) -> None:
        """Keep `origins`, which returns the approved origins of a tool; called once a tool."""
        self._origins = origins
        self._approved: dict[str, Approved] = {}

    def open(self, call_spec: CallSpec, seconds: float) -> Any:
        """Return an `httpx.AsyncClient` for one call with its deadline in seconds."""
        return open_client(call_spec.name, self.approved(call_spec), seconds)

    def approved(self, call_spec: CallSpec) -> Approved:
        """Return what a tool may reach. The first time plugins are asked, which may block."""
        approved = self._approved.get(call_spec.name)
        if approved is None:
            approved = self._approved[call_spec.name] = self._of(call_spec)
        return approved

    def _of(self, call_spec: CallSpec) -> Approved:
        """Read what is approved; a skill itself may reach nothing."""
        if not isinstance(call_spec, ToolCallSpec):
            return Approved(call_spec.source.path)
        origins: tuple[str, ...] = ()
        try:
            if self._origins is not None:
                origins = tuple(self._origins(call_spec.name))
        except Exception as error:  # noqa: BLE001 - a failure approves nothing
            logged(error, "the approved origins of %s can't be determined", call_spec.name)
        return Approved(call_spec.source.path, call_spec.limits.allowed_domains, origins)
