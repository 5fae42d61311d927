"""The tools of a snapshot, compiled on their first call: what a spec decides is decided once."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property

from toolmd._call.arguments import read
from toolmd._call.checks import Parts, Passage, escalation, steps_of, verdict_of
from toolmd._call.denial import CallDenied, deny, guard_failed
from toolmd._call.invoke import Invoker
from toolmd._call.threads import AROUND
from toolmd._call.words import reads_words
from toolmd._types.call import Call
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.verdict import ALLOWED, Verdict
from toolmd._validation.redact import hider
from toolmd.errors import did_you_mean, hiding, is_a_skill

_NOTHING_HIDDEN = nullcontext()


class CompiledTool:
    """A tool of one snapshot with its checks, limits and invoker."""

    def __init__(self, tool: BoundTool, parts: Parts, invoker: Invoker) -> None:
        """Build the checks; raise where a restriction can't be read, so that no call passes."""
        spec = parts.call_spec
        self.bound = tool
        """The bound tool; a call does not need its spec."""
        self.call_spec = spec
        self.default_min = tool.default_min
        self.limits = parts.limits
        self.invoker = invoker
        self._read = steps_of("read", parts)
        self._decide = steps_of("decide", parts)
        self.end = steps_of("end", parts)
        """The checks that end a call which no other one stopped: limits and run."""
        self._escalation = escalation(parts)
        self.holds_sensitive = any(p.shape.holds_sensitive for p in spec.parameters)
        """Whether its arguments may contain Sensitive values."""
        self.keeps_words = spec.read_only and not reads_words(spec)
        """Whether the user's words still count after a call: a lookup fulfils no wish."""
        self.is_keyed = spec.idempotent == "keyed"

    def hiding(self, arguments: Mapping[str, object]) -> AbstractContextManager[None]:
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

    async def check(self, at: Passage) -> Verdict:
        """Check context and arguments, then return the strictest verdict. Raises CallDenied."""
        for read_call in self._read:
            if (waiting := read_call(at)) is not None:
                await waiting
        if not self._decide:
            return ALLOWED
        with self.hiding(at.arguments):
            try:
                return await verdict_of(self._decide, at)
            except CallDenied:
                raise
            except Exception as error:  # noqa: BLE001 - an exception in a check denies
                raise guard_failed(at.call.tool, "policy", error) from None

    async def read(self, call: Call) -> Passage:
        """Return a call with its arguments, without a verdict. Raises CallDenied."""
        at = Passage(call, 0.0)
        for read_call in self._read:
            if (waiting := read_call(at)) is not None:
                await waiting
        return at

    def escalates(self, at: Passage) -> bool:
        """Return whether Escalate When holds for a call."""
        check = self._escalation
        return check is not None and check(at) is not ALLOWED


class CompiledTools:
    """The tools of one snapshot."""

    def __init__(
        self,
        registry: Registry,
        build: Callable[[BoundTool], tuple[Parts, Invoker]],
        *,
        blocks: bool,
    ) -> None:
        """Keep the tools; `build` returns the parts of one; with `blocks` it may run plugins."""
        self._registry = registry
        self._build = build
        self._blocks = blocks
        self._ready: dict[str, CompiledTool] = {}
        self.bound = registry.tools.get
        """Returns a tool of the snapshot by its name."""
        self.used = self._ready.get
        """Returns a tool that was called before by its name; None for any other."""

    async def find(self, call: Call) -> CompiledTool:
        """Find the tool of a call. Raises CallDenied where there is none.

        The first call of a tool may run plugins and compile Rules in a thread, so that the event
        loop stays free. Later calls get what `used` returns.
        """
        name = call.tool
        if (ready := self._ready.get(name)) is not None:
            return ready
        bound = self.bound(name)
        if bound is None:
            read(call)
            if (folded := name.replace("-", "_")) in self._registry.skills:
                raise deny("unknown_tool", f"{is_a_skill(folded)}.")
            hint = did_you_mean(name, self._registry.tools, 3) or "it is not in this project."
            raise deny("unknown_tool", f"There is no tool {name[:64]!r}; {hint}")
        if not self._blocks:
            return self._compiled(bound)
        made: CompiledTool = await AROUND.run(lambda: self._compiled(bound))
        return made

    def _compiled(self, bound: BoundTool) -> CompiledTool:
        try:
            parts, invoker = self._build(bound)
            if reads_words(parts.call_spec):
                _ = parts.words.doubt  # A plugin whose words can't be read lets no call pass.
            ready = CompiledTool(bound, parts, invoker)
        except Exception as error:  # noqa: BLE001 - a restriction that can't be read denies every call
            raise guard_failed(bound.name, "policy", error) from None
        # Two threads may both compile the tool: the first one is kept.
        return self._ready.setdefault(bound.name, ready)
