"""Compile tools on their first call: what a spec decides is decided once."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, Protocol

from toolmd._call.arguments import has_handle, mismatch, read
from toolmd._call.checks import Policy, checks_of, escalation, verdict_of
from toolmd._call.context import CallServices
from toolmd._call.denial import CallDenied, deny, guard_failed
from toolmd._call.invoke import Invoker
from toolmd._call.limits import CallLimits
from toolmd._call.telemetry import TracedInvoker, Tracing
from toolmd._call.threads import AROUND
from toolmd._call.words import UserWords, reads_words
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.settings import SafetySettings
from toolmd._types.verdict import ALLOWED, Problem, Verdict
from toolmd._validation import (
    ArgumentsValidator,
    InvalidArgumentsError,
    MalformedError,
    read_object,
)
from toolmd._validation.redact import hider
from toolmd.errors import did_you_mean, hiding, is_a_skill
from toolmd.hooks import Guard

_NOTHING_HIDDEN = nullcontext()


class CompiledTool:
    """A tool of one snapshot with its validator, rules, guards and invoker."""

    def __init__(
        self,
        tool: BoundTool,
        dispatcher: CallServices,
        policy: Policy,
        limits: CallLimits,
        tracing: Tracing | None = None,
    ) -> None:
        """Build the parts; raise where a restriction can't be read, so that no call passes."""
        call_spec = tool.call_spec
        self.default_min = tool.default_min
        self.checks = checks_of(policy)
        """The checks of the policy, in order."""
        self._escalation = escalation(policy)
        self.limits = limits
        self.bound = tool
        """The bound tool; a call does not need its spec."""
        self.call_spec = call_spec
        ignores = call_spec.unknown_parameters == "ignore"
        self.validator = ArgumentsValidator(call_spec.parameters, ignore_unknown=ignores)
        self._rules = _rules(call_spec)
        self.holds_sensitive = any(p.shape.holds_sensitive for p in call_spec.parameters)
        """Whether its arguments may contain Sensitive values."""
        self.takes_handles = frozenset(
            p.name for p in call_spec.parameters if p.shape.accepts_handle
        )
        """The parameters that accept handles of earlier results."""
        self.needs_caller = call_spec.requires_auth or bool(call_spec.requires_context)
        """Whether it requires a user or a fact."""
        self.ignores_unknown = ignores
        self.is_keyed = call_spec.idempotent == "keyed"
        self.invoker = (
            Invoker(tool, dispatcher, limits)
            if tracing is None
            else TracedInvoker(tool, dispatcher, limits, tracing)
        )

    def hiding(self, arguments: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Hide the call's Sensitive values in whatever is logged during the call."""
        if not self.holds_sensitive:
            return _NOTHING_HIDDEN
        return hiding(hider(arguments, self.call_spec.parameters))

    @cached_property
    def audit_head(self) -> dict[str, str]:
        """The fields of the tool in each of its records."""
        return {"tool": self.call_spec.name, "spec": self.hash}

    @property
    def hash(self) -> str:
        """The hash of the file's content, which records and approvals contain."""
        return self.bound.hash

    def check_caller(self, call: Call) -> None:
        """Check that the host supplies the user and the facts that the tool requires."""
        name, caller, lacking = self.call_spec.name, call.caller, []
        if self.call_spec.requires_auth and not caller.user:
            message = f"{name} needs a signed-in user; the host names one."
            lacking.append(Problem("auth_required", "", message))
        for fact in self.call_spec.requires_context:
            if not caller.context.get(fact):
                message = f"{name} needs the {fact} in the caller's context; the host supplies it."
                lacking.append(Problem("context_required", "", message))
        if lacking:
            read(call)
            details = tuple(lacking) if len(lacking) > 1 else ()
            raise deny(lacking[0].code, " ".join(one.message for one in lacking), details)

    def arguments(self, call: Call) -> dict[str, Any]:
        """Check syntax, arguments and rules; return the arguments with defaults filled."""
        try:
            arguments = self.validator.check(read_object(call.arguments))
        except (MalformedError, InvalidArgumentsError) as error:
            raise CallDenied(mismatch(error)) from None
        if self._rules is not None:
            try:
                self._rules.check(arguments)
            except CallDenied:
                raise
            except Exception as error:  # noqa: BLE001 - an exception in a check denies
                with self.hiding(arguments):
                    raise guard_failed(call.tool, "rule", error) from None
        return arguments

    def escalates(self, call: Call, arguments: Mapping[str, Any]) -> bool:
        """Return whether Escalate When holds for a call."""
        check = self._escalation
        return check is not None and check(call, arguments) is not ALLOWED

    async def verdict(self, call: Call, arguments: dict[str, Any]) -> Verdict:
        """Return the strictest verdict of the policy and the guards. Raises CallDenied."""
        with self.hiding(arguments):
            try:
                return await verdict_of(self.checks, call, arguments)
            except CallDenied:
                raise
            except Exception as error:  # noqa: BLE001 - an exception in a check denies
                raise guard_failed(call.tool, "policy", error) from None

    def dropped(self, arguments: Mapping[str, Any] | str | bytes) -> tuple[str, ...]:
        """Return the paths of unknown keys that were dropped."""
        return self.validator.dropped(read_object(arguments))


class Services(CallServices, Protocol):
    """What the tools of a snapshot need of its dispatcher."""

    def with_results(self, call: Call, names: frozenset[str]) -> Call:
        """Return a call with earlier results in place of the handles among these arguments.

        It blocks. Raises CallDenied.
        """


class CompiledTools:
    """The tools of one snapshot."""

    def __init__(  # noqa: PLR0913 - what a dispatcher brings, by keyword
        self,
        registry: Registry,
        safety: SafetySettings,
        dispatcher: Services,
        *,
        guards: Callable[[BoundTool], Sequence[Guard]] | None = None,
        limits: Callable[[ToolCallSpec], CallLimits],
        approve: Callable[[ToolCallSpec], object] | None = None,
        tracing: Tracing | None = None,
        words: UserWords,
    ) -> None:
        """`guards` and `limits` return those of a tool; each is asked once.

        `approve` asks plugins which origins a tool may reach, before a client needs to know.
        `words` assesses the messages of users.
        """
        self._registry = registry
        self.bound = registry.tools.get
        """Returns a tool of the snapshot by its name."""
        self._safety = safety
        self._dispatcher = dispatcher
        self._guards = guards
        self._limits = limits
        self._approve = approve
        self._tracing = tracing
        self._words = words
        self._ready: dict[str, CompiledTool] = {}
        self.used = self._ready.get
        """Returns a tool that was called before by its name; None for any other."""

    async def find(self, call: Call) -> CompiledTool:
        """Find the tool of a call. Raises CallDenied where there is none.

        The first call of a tool may run plugins and compile Rules in a thread, so that the event
        loop stays free. Later calls get what `used` returns.
        """
        if (ready := self._ready.get(call.tool)) is not None:
            return ready
        bound = self._bound(call)
        if self._guards is None:
            return self._compiled(bound)
        made: CompiledTool = await AROUND.run(lambda: self._compiled(bound))
        return made

    async def with_results(self, tool: CompiledTool, call: Call) -> Call:
        """Return a call with earlier results in place of the handles that it passes.

        Raises CallDenied.
        """
        names = tool.takes_handles
        if not has_handle(call.arguments, names):
            return call
        found: Call = await AROUND.run(lambda: self._dispatcher.with_results(call, names))
        return found

    def _bound(self, call: Call) -> BoundTool:
        name = call.tool
        bound = self._registry.tools.get(name)
        if bound is None:
            read(call)
            if (folded := name.replace("-", "_")) in self._registry.skills:
                raise deny("unknown_tool", f"{is_a_skill(folded)}.")
            hint = did_you_mean(name, self._registry.tools, 3) or "it is not in this project."
            raise deny("unknown_tool", f"There is no tool {name[:64]!r}; {hint}")
        return bound

    def _compiled(self, bound: BoundTool) -> CompiledTool:
        name = bound.name
        try:
            guards = tuple(self._guards(bound)) if self._guards is not None else ()
            limits = self._limits(bound.call_spec)
            if self._approve is not None:
                self._approve(bound.call_spec)
            policy = Policy(bound.call_spec, self._safety, bound.default_min, self._words, guards)
            if reads_words(bound.call_spec):
                _ = self._words.doubt  # A plugin whose words can't be read lets no call pass.
            ready = CompiledTool(bound, self._dispatcher, policy, limits, self._tracing)
        except Exception as error:  # noqa: BLE001 - a restriction that can't be read denies every call
            raise guard_failed(name, "policy", error) from None
        # Two threads may both compile the tool: the first one is kept.
        return self._ready.setdefault(name, ready)


def _rules(call_spec: ToolCallSpec) -> Any:
    """Return the tool's compiled Rules; None where it has none, so that it imports no evaluator."""
    if not call_spec.rules:
        return None
    from toolmd._call.arguments import Rules

    return Rules(call_spec)
