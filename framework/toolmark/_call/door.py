"""The one door: every call, whoever makes it, comes down this ladder (behaviour.md)."""

import hashlib
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import cached_property
from time import perf_counter, time
from typing import TYPE_CHECKING, Any

from toolmark._call.audit.recorder import Recorder
from toolmark._call.invoke.clients import Clients
from toolmark._call.invoke.context import Resources
from toolmark._call.invoke.plain import PlainRun
from toolmark._call.invoke.trace import tracing_of
from toolmark._call.judge.intent import says_any
from toolmark._call.judge.plugins import Judge
from toolmark._call.limits.starts import limits_of
from toolmark._call.limits.tally import Tally
from toolmark._call.limits.timing import MACHINE, Timing
from toolmark._call.ready import ReadyTool, ReadyTools
from toolmark._call.refusal import overruled, refusal_of, refuse
from toolmark._call.result.outcome import allowed, denied, held_back, ignored
from toolmark._crash import logged
from toolmark._model.call import Budget, Call, Caller
from toolmark._model.contract import Contract
from toolmark._model.registry import BoundTool, Registry
from toolmark._model.result import EventListener, Result
from toolmark._model.settings import Settings
from toolmark._model.verdict import ALLOWED, Ruling, Verdict

if TYPE_CHECKING:
    # What a call that nobody holds or records does not wait for.
    from toolmark._call.audit.chain import Audit
    from toolmark._call.confirm.decisions import Decisions
    from toolmark._call.confirm.desk import Desk
    from toolmark._model.tool import ToolSpec

MAX_CALL_DEPTH = 16
"""How many calls may stand around one: tools that call tools must come to an end."""
# A call is made for each call: its fields in order, without naming defaults.
_make = tuple.__new__


class Door:
    """Takes the calls of one snapshot."""

    def __init__(  # noqa: PLR0913 - what a snapshot brings, by keyword
        self,
        registry: Registry,
        settings: Settings,
        *,
        resources: Resources | None = None,
        judges: Callable[[BoundTool], Sequence[Judge]] | None = None,
        before: Callable[[Call, "ToolSpec"], None] | None = None,
        after: Callable[[Call, "ToolSpec", Result], None] | None = None,
        clock: Callable[[], float] = time,
        provider: Any = None,
        timing: Timing = MACHINE,
        tallies: dict[str, Tally] | None = None,
        origins: Callable[[str], Iterable[str]] | None = None,
    ) -> None:
        """Open the door; `clock` gives seconds since the epoch, `timing` is what limits go by.

        `provider` is OpenTelemetry's; the one that is installed where it is None. `tallies`
        are the counts of a workspace by tool, which outlive the door. `origins` gives what the
        operator approved beside a tool's Allowed Domains.
        """
        self.registry = registry
        self.resources = resources
        self._settings = settings
        self._clock = clock
        self._before = before
        self._after = after
        self._crisis_words = settings.safety.crisis_words
        self._clients = Clients(origins)
        self.audit: Audit | None = None
        if settings.audit:
            from toolmark._call.audit import chain

            self.audit = chain.Audit(settings.state / chain.AUDIT_FILE)
        self._recorder = Recorder(self.audit, clock)
        tracing = tracing_of(settings, provider)
        self._tools = ReadyTools(
            registry,
            settings.safety,
            self,
            judges=judges,
            limits=limits_of(settings, {} if tallies is None else tallies, timing),
            tracing=tracing,
        )
        self._has_last_words = bool(after or self._crisis_words)
        self._looked_at = bool(self.audit or before or tracing or self._has_last_words)
        """Whether somebody hears of each call, so that none takes the quick way."""
        self.quick: dict[str, PlainRun] = {}
        """The whole ladder of a tool in one closure, for those of which it is known."""

    @cached_property
    def _desk(self) -> "Desk":
        """Where calls are held, once one is."""
        from toolmark._call.confirm.desk import Desk
        from toolmark._call.confirm.holds import Holds

        holds = Holds(self._settings.state / "held.sqlite3")
        return Desk(holds, self._settings.safety, self._tools, self._clock)

    @cached_property
    def decisions(self) -> "Decisions":
        """What people decide on held calls."""
        from toolmark._call.confirm.decisions import Decisions

        return Decisions(self._desk, self._recorder, self._tools, self)

    def call(  # noqa: PLR0913, PLR0917 - the face of a call; by place it costs a third
        self,
        name: str,
        arguments: Mapping[str, Any] | str | bytes,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        call_id: str | None = None,
        dry_run: bool = False,  # noqa: FBT001, FBT002 - see above
        budget: Budget | None = None,
        on_event: EventListener | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Call a tool with an object or its JSON text; never raises but for cancellation."""
        quick = self.quick.get(name)
        if quick is not None and type(arguments) is str and not (dry_run or budget):
            # Who tells events has a Context, and takes no quick way.
            return quick(arguments, call_id, confidence, message, user, patient, conversation)
        caller = _make(Caller, (user, patient, message, conversation))
        if idempotency_key is None and call_id is not None:
            idempotency_key = _key_of(call_id, name, arguments, caller)
        call = _make(Call, (name, arguments, call_id, confidence, caller, dry_run, budget,
                            idempotency_key, 0))  # fmt: skip
        return self.take(call, on_event)

    async def take(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Take a call down the ladder; the first row that does not pass gives the answer."""
        began = perf_counter()
        try:
            _check(call)  # row 1
            tool = self._tools.find(call)  # row 2
            tool.admit(call)  # row 2a
            arguments = tool.arguments(call)  # rows 1 and 3, one pass over the text
            note = ignored(tool.dropped(call.arguments)) if tool.ignores_unknown else ""
            if tool.judges:  # rows 4 to 7
                verdict = await tool.judge(call, arguments)
            else:
                verdict = tool.weigh(call, arguments)
            if verdict is not ALLOWED:
                result = self._stop(tool, call, arguments, verdict, began)
            elif call.dry_run:
                tool.limits.check(call)  # row 8
                result = allowed(call, began)
            else:
                result = await self.run(tool, call, arguments, began, on_event)  # rows 8 and 9
            if note:
                result = result._replace(notes=(*result.notes, note))
        except Exception as error:  # noqa: BLE001 - whatever breaks on the ladder refuses
            result = self.denied(call, error, began)
        return self.last_words(call, result) if self._has_last_words else result

    def run(
        self,
        tool: ReadyTool,
        call: Call,
        arguments: dict[str, Any],
        began: float,
        on_event: EventListener | None = None,
        held_id: str | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Rows 8 and 9, for a call that nothing stops: `held_id` is the held call it redeems."""
        if tool.limits.binds:
            return self._in_turn(tool, call, arguments, began, on_event, held_id)
        self._commit(tool, call, arguments, held_id)
        return tool.invoker.run(call, arguments, began, on_event)

    async def _in_turn(
        self,
        tool: ReadyTool,
        call: Call,
        arguments: dict[str, Any],
        began: float,
        on_event: EventListener | None,
        held_id: str | None,
    ) -> Result:
        """Wait for a place and a turn, and run. Raises a Refusal."""
        await tool.limits.start(call)
        try:
            self._commit(tool, call, arguments, held_id)
            return await tool.invoker.run(call, arguments, began, on_event)
        finally:
            try:
                tool.limits.end()
            except Exception as error:  # noqa: BLE001 - the call has run: too late to refuse it
                logged(error, "the place of a call of %s was not given back", tool.spec.name)

    def _commit(
        self, tool: ReadyTool, call: Call, arguments: dict[str, Any], held_id: str | None
    ) -> None:
        """Record that the call runs now; raises a Refusal where that can't be written."""
        if self.audit is not None:
            self._recorder.runs(call, tool, arguments, held_id)
        if self._before is not None:
            _tell(self._before, call, tool.spec)
        if tool.is_plain and tool.invoker.plain is not None and not self._looked_at:
            self.quick[call.tool] = tool.invoker.plain

    def _stop(
        self,
        tool: ReadyTool,
        call: Call,
        arguments: dict[str, Any],
        verdict: Verdict,
        began: float,
    ) -> Result:
        """Refuse a call, or hold it for a person."""
        if verdict.ruling is Ruling.DENY:
            raise overruled(verdict)
        held = self._desk.hold(tool, call, arguments, verdict.ruling)
        self._recorder.held(call, tool, arguments, verdict, held.id)
        return held_back(call, held, verdict, began)

    def denied(
        self, call: Call, error: Exception, began: float, held_id: str | None = None
    ) -> Result:
        """Give the Result of a call that a row refused, or at which one broke."""
        refusal = refusal_of(call.tool, error)
        self._recorder.denied(call, self._tools.used(call.tool), refusal, held_id)
        return denied(call, refusal, began)

    def open_client(self, contract: Contract, seconds: float) -> Any:
        """Make the HTTP client of one call, which has so many seconds."""
        return self._clients.open(contract, seconds)

    def refuse_reply(
        self, code: str, message: str, *, caller: Caller, dry_run: bool = False
    ) -> Result:
        """Rows 0 and 1 of a model's whole reply that can't be read: none of its calls runs."""
        call = Call("", {}, caller=caller, dry_run=dry_run)
        return self.last_words(call, self.denied(call, refuse(code, message), perf_counter()))

    def last_words(self, call: Call, result: Result) -> Result:
        """Add to a result what rides on every outcome, and tell those who listen."""
        words = self._crisis_words
        try:
            crisis = bool(words) and says_any(call.caller.message, words)
        except Exception as error:  # noqa: BLE001 - words that can't be read may be of a crisis
            logged(error, "the user's message could not be looked through")
            crisis = True
        if crisis:
            result = result._replace(crisis=True)
        if self._after is not None and (bound := self.registry.tools.get(call.tool)) is not None:
            _tell(self._after, call, bound.spec, result)
        return result

    def close(self) -> None:
        """Close the records."""
        if self.audit is not None:
            self.audit.close()


def _key_of(
    call_id: str, name: str, arguments: Mapping[str, Any] | str | bytes, caller: Caller
) -> str | None:
    """Make the idempotency key of a call that its host named: the same where it is made again.

    Another call under this name has another key, so that none is taken for it. The names in a
    model's reply make no keys.
    """
    whose = [call_id, caller.user, caller.patient, caller.conversation, name]
    if isinstance(arguments, Mapping):
        try:
            arguments = json.dumps(arguments, sort_keys=True)
        except (TypeError, ValueError, RecursionError):
            return None  # No JSON: row 3 says so.
    return hashlib.sha256(repr([*whose, arguments]).encode(errors="replace")).hexdigest()[:32]


def _tell(listener: Callable[..., None], *said: Any) -> None:
    try:
        listener(*said)
    except Exception as error:  # noqa: BLE001 - it only listens
        logged(error, "a listener to calls failed")


def _check(call: Call) -> None:
    """Row 1 but for the arguments: a confidence from 0 to 1, and no endless round of tools."""
    stated = call.confidence
    if stated is not None and (type(stated) not in _NUMBERS or not 0 <= stated <= 1):
        raise refuse("malformed_call", "confidence must be a number from 0 to 1")
    if call.depth > MAX_CALL_DEPTH:
        raise refuse("malformed_call", f"more than {MAX_CALL_DEPTH} tools call one another")


_NUMBERS = (int, float)
