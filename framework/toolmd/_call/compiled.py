"""The tools of a snapshot, compiled on their first call: what a spec decides is decided once."""

from functools import cached_property, partial

from toolmd._call.approvals import Approvals
from toolmd._call.checks import Parts, Passage, Step, escalation, steps_of, verdict_of
from toolmd._call.denial import CallDenied, guard_failed
from toolmd._call.invoke import Invoker
from toolmd._call.threads import AROUND
from toolmd._call.words import reads_words
from toolmd._types.call import Call
from toolmd._types.registry import BoundTool
from toolmd._types.verdict import ALLOWED, Verdict
from toolmd._validation import is_large
from toolmd._validation.redact import hider
from toolmd.errors import hiding


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
        self._read_in_thread = tuple(partial(_in_thread, step) for step in self._read)
        """The same for large arguments."""
        self._decide = steps_of("decide", parts)
        self._escalation = escalation(parts)
        self.approvals = Approvals(spec)
        """The approvals of other people that its calls may need."""
        self._own = steps_of("decide", parts, besides="review")
        self.holds_sensitive = any(p.shape.holds_sensitive for p in spec.parameters)
        """Whether its arguments may contain Sensitive values."""
        self.keeps_words = spec.read_only and not reads_words(spec)
        """Whether the user's words still count after a call: a lookup fulfils no wish."""
        self.may_wait = bool(
            self.approvals or parts.guards or spec.safety.confirm_when or reads_words(spec)
        )
        """Whether some of its calls wait for a person, and others run."""
        self.is_keyed = spec.idempotent == "keyed"

    @cached_property
    def audit_head(self) -> str:
        """The fields of the tool in each of its records, as JSON without its braces."""
        return f'"tool":"{self.call_spec.name}","spec":"{self.hash}"'

    @property
    def hash(self) -> str:
        """The hash of the file's content, which records and approvals contain."""
        return self.bound.hash

    async def check(self, at: Passage) -> Verdict:
        """Check context and arguments, then return the strictest verdict. Raises CallDenied."""
        for read_call in self._read_in_thread if is_large(at.call.arguments) else self._read:
            if (waiting := read_call(at)) is not None:
                await waiting
        if not self._decide:
            return ALLOWED
        try:
            if not self.holds_sensitive:
                return await verdict_of(self._decide, at)
            with hiding(hider(at.arguments, self.call_spec.parameters)):
                return await verdict_of(self._decide, at)
        except CallDenied:
            raise
        except Exception as error:  # noqa: BLE001 - an exception in a check denies
            raise guard_failed(at.call.tool, "policy", error) from None

    async def asks_caller(self, at: Passage) -> Verdict:
        """Return the verdict of the checks that ask the caller, without those of a review."""
        return await verdict_of(self._own, at)

    async def read(self, call: Call) -> Passage:
        """Return a call with its arguments, without a verdict. Raises CallDenied."""
        at = Passage(call, 0.0)
        for read_call in self._read_in_thread if is_large(call.arguments) else self._read:
            if (waiting := read_call(at)) is not None:
                await waiting
        return at

    def escalates(self, at: Passage) -> bool:
        """Return whether Crisis When holds for a call."""
        check = self._escalation
        return check is not None and check(at) is not ALLOWED


async def _in_thread(step: Step, at: Passage) -> None:
    if (waiting := await AROUND.run(partial(step, at))) is not None:
        await waiting
