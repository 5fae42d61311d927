"""Store calls for confirmation, and carry out a person's decision on each once."""

import datetime as dt
import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any, Protocol

from toolmd._call.approvals import roles_by_escalation, who_may, yes_of
from toolmd._call.arguments import values_for
from toolmd._call.audit.recorder import Recorder
from toolmd._call.checks import Passage
from toolmd._call.compiled import CompiledTool
from toolmd._call.corrections import REPLACES, add_replacing, end_corrected, text_of
from toolmd._call.crisis import with_flag
from toolmd._call.denial import CallDenied, denial_of, deny, guard_failed
from toolmd._call.keyed import find_record, record
from toolmd._call.prompts import ask_again, show, words_of
from toolmd._call.result import answered
from toolmd._call.threads import AROUND
from toolmd._store.store import Store
from toolmd._types.approval import OPERATORS_REVIEW, Approved, OpenApproval
from toolmd._types.call import Call
from toolmd._types.confirmation import UNDECIDED, By, Confirmation, ConfirmationState
from toolmd._types.decision import OPERATOR, Approver, Decision
from toolmd._types.quota import FAR
from toolmd._types.registry import Registry
from toolmd._types.result import EventListener, Result
from toolmd._types.schema import plain_numbers
from toolmd._types.settings import Settings
from toolmd._types.verdict import Action, Problem, Verdict
from toolmd._validation.redact import HIDDEN, changes, redacted_value
from toolmd.errors import UnreachableError, logged

SPARE_S = 10.0
"""How much longer than its wait and its Timeout an approved call may take, in seconds."""
NOT_YOURS = (
    "This call waits for an operator, not for the user who made it. Operators find it with"
    " `toolmd pending`, or on the console's page of pending calls."
)
SUPERSEDED = "A later call corrected this one, or repeated it: only the later one counts."
STALE = (
    "The tool, its policy or an installed package changed since this call was stored: it must be "
    "confirmed again."
)
CHANGED = "The tool or its policy changed since its server asked: call the tool again."
ELSEWHERE = (
    "The server waits for this answer in another process, or not any more. Answer in the console or"
    " the client that made the call, or call the tool again."
)
NO = "{} said no: do not call it again with the same arguments."


class Pipeline(Protocol):
    """What the confirmations need of the dispatcher."""

    store: Store
    settings: Settings
    registry: Registry
    recorder: Recorder
    clock: Callable[[], float]

    async def find(self, call: Call) -> CompiledTool:
        """Return the tool of a call with its checks. Raises CallDenied where there is none."""

    async def with_crisis_flag(self, call: Call) -> Call:
        """Return a call with the crisis flag, if its message or conversation has it now."""

    async def run(self, at: Passage) -> Result:
        """Run a call that no check stopped. Raises CallDenied."""

    def waits(self, tool: CompiledTool, one: Confirmation, began: float) -> Result:
        """Return the Result of a call that waits for a person."""

    async def denied(
        self, call: Call, error: Exception, began: float, by: By | None = None
    ) -> Result:
        """Return the Result of a call that a check denied."""

    def finish(self, call: Call, result: Result) -> Result:
        """Add the crisis flag to a result, count it, and call the after-hook."""


class Confirmations:
    """The calls of one snapshot that wait for a person, and the decisions on them."""

    def __init__(self, dispatcher: Pipeline) -> None:
        """Keep the dispatcher, which runs approved calls."""
        self._dispatcher = dispatcher
        self._store = dispatcher.store
        self._clock = dispatcher.clock

    async def add(  # noqa: PLR0913, PLR0917 - a call, and what was decided on it before
        self,
        tool: CompiledTool,
        call: Call,
        arguments: Mapping[str, Any],
        verdict: Verdict,
        notes: tuple[str, ...] = (),
        by: By | None = None,
        approved: tuple[Approved, ...] = (),
    ) -> Confirmation:
        """Store and record a call until a person decides; a dry run does neither.

        A call whose server asked for input waits for the answer instead of a yes.

        Args:
            tool: Its tool.
            call: The call.
            arguments: Its validated arguments.
            verdict: Why it waits: an action stricter than ALLOW.
            notes: What a person changed in it before; they go into its result.
            by: The decision after which it waits again.
            approved: The caller's yes to it, where an operator must review it besides.

        Raises:
            CallDenied: It can't be stored or recorded.
        """
        call_spec, now = tool.call_spec, self._clock()
        checked = call._replace(arguments=dict(arguments))
        approvals, own = await self._approvals_of(tool, checked, verdict)
        if own is not None and verdict.code != "confirmation_stale":
            verdict = own
        words = words_of(tool, call, arguments, verdict)
        asked = show(tool, call, arguments, now, words, () if own else approvals)
        one = Confirmation(
            "", sensitivity=call_spec.safety.sensitivity or "low",
            kind="review" if verdict.action is Action.REVIEW and own is None else "confirm",
            call=checked, code=verdict.code, reason=verdict.message,
            notes=notes, words=words, approvals=approvals,
            approved=() if approvals else approved, **asked._asdict(),
        )  # fmt: skip
        if call.dry_run:
            return one
        await tool.invoker.prepare()
        one = one._replace(
            id=secrets.token_urlsafe(9).replace("-", "a"),
            created=now,
            expires=now + self._waits_s(tool, one),
            bound_to=self._hash_of(tool, arguments),
        )
        try:
            add = partial(add_replacing, self._store.confirmations, call_spec, one)
            stored: Confirmation = await AROUND.run(add)
        except Exception as error:  # noqa: BLE001 - a store that can't be used denies
            raise guard_failed(call_spec.name, "confirmation", error) from None
        if by is None and stored.replaces:
            by = {"confirmation": ", ".join(stored.replaces)}
        await self._dispatcher.recorder.waits(stored, tool, by)
        return stored

    async def _approvals_of(
        self, tool: CompiledTool, call: Call, verdict: Verdict
    ) -> tuple[tuple[OpenApproval, ...], Verdict | None]:
        """Return the approvals that a call needs, and the verdict that asks its caller first.

        The call has its validated arguments.
        """
        arguments = call.arguments
        assert isinstance(arguments, dict)
        if call.asked is not None or not tool.approvals:
            return (), None
        opened = tool.approvals.open(call, arguments, self._now())
        if not opened:
            return (), None
        if _needs_operator(verdict):
            opened += (OPERATORS_REVIEW,)
        return opened, await self._asks_caller(tool, call)

    @staticmethod
    async def _asks_caller(tool: CompiledTool, call: Call) -> Verdict | None:
        """Return the verdict that asks the caller of a call with validated arguments, if any."""
        own = await tool.asks_caller(_passage(call))
        return own if own.action is Action.CONFIRM else None

    async def end_corrected(self, tool: CompiledTool, at: Passage, result: Result) -> Result:
        """End the pending call that a call which ran corrects or repeats; the result notes it.

        An Approval that one of several approvers gave ends only if the call is about the same.
        """
        call = at.call._replace(arguments=at.arguments)
        end = partial(end_corrected, self._store.confirmations, tool.call_spec, call, self._clock())
        if (old := await AROUND.run(end)) is None:
            return result
        try:
            ended = {"confirmation": old}
            recorder = self._dispatcher.recorder
            await recorder.write("superseded", call, tool, call.arguments, ended)
        except CallDenied as error:
            logged(error, "the end of the pending call %s was not recorded", old)
        return result._replace(notes=(*result.notes, REPLACES.format(old)))

    async def decide(
        self,
        confirmation_id: str,
        decision: Decision,
        who: Approver = OPERATOR,
        on_event: EventListener | None = None,
    ) -> Result:
        """Carry out a person's decision on a pending call; never raises but for cancellation.

        An approved call runs after all checks of arguments, rules and guards passed again. If the
        caller or the tool's requirements changed, it waits for a new confirmation. A rejected or
        answered call never runs. Only its caller gets Sensitive values of its data.
        """
        call, result = await self._decide(confirmation_id, decision, who, on_event)
        if result.confirmation is not None:
            shown = result.confirmation.opened_for(who.user, who.roles, self._clock())
            result = result._replace(confirmation=shown)
        # The tool goes on after any decision on its server's question.
        ran_nothing = call.asked is None and decision.kind in ("reject", "respond")
        if ran_nothing or call.caller.user == who.user:
            return result
        try:
            if result.data is None:
                return result
            tool = self._dispatcher.registry.tools.get(result.tool)
            if tool is not None and not tool.call_spec.returns.holds_sensitive:
                return result
            data = HIDDEN if tool is None else redacted_value(result.data, tool.call_spec.returns)
        except Exception as error:  # noqa: BLE001 - it ran: all of its data is hidden
            logged(error, "the result of %s is not shown", call.tool)
            data = HIDDEN
        return result._replace(data=data, parts={})

    async def approve_for_run(
        self, confirmation_id: str, call: Call, by: str | None = None
    ) -> Result:
        """Approve a pending call with the arguments of `call`, as a run's question was answered.

        Who may decide a review is checked where the run's question is answered.
        """
        one = await self.get(confirmation_id)
        given = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
        edit, user = given, call.caller.user
        who = Approver(user, by)
        if one is not None and one.call.asked is None:
            edit = {name: given[name] for name in given
                    if text_of(given, name) != text_of(one.call.arguments, name)}  # fmt: skip
        if one is not None and one.kind == "review" and one.call.key == call.key:
            who = Approver(None, by)
        decision = Decision.edit(edit) if edit else Decision.approve()
        return (await self._decide(confirmation_id, decision, who, None, call.key))[1]

    def _now(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self._clock(), dt.UTC)

    async def deny_approval(
        self, one: Confirmation, decision: Decision, who: Approver
    ) -> Result | None:
        """Return the denial where a person may not answer a run's question for its caller."""
        began = perf_counter()
        try:
            yes_of(one, who, self._now())
        except Exception as error:  # noqa: BLE001 - any exception in a check denies
            return await self._dispatcher.denied(one.call, error, began)
        if decision.kind != "edit":
            return None
        message = "An approver answers yes or no: the step states the arguments."
        return await self._dispatcher.denied(one.call, deny("not_allowed", message), began)

    def pending(
        self, user: str | None = None, after: tuple[float, str] | None = None
    ) -> Iterator[Confirmation]:
        """Yield the pending calls of one user or of all, oldest first, without those of runs.

        They begin `after` a time of creation and an id. The calling thread waits where the store
        is locked.
        """
        kept = self._store.confirmations.pending(self._clock(), user=user, after=after)
        return (ask_again(one) for one in kept if not one.call.is_of_a_run)

    async def read(self, confirmation_id: str) -> Confirmation | None:
        """Return a confirmation; raises UnreachableError where the store can't be read."""
        try:
            return await self._read(confirmation_id)
        except UnreachableError:
            raise
        except Exception as error:
            message = f"the confirmations can't be read: {error}; `toolmd doctor` names the remedy"
            raise UnreachableError(message) from error

    async def get(self, confirmation_id: str) -> Confirmation | None:
        """Return a confirmation, decided or not; None where it can't be read."""
        try:
            return await self.read(confirmation_id)
        except UnreachableError:
            return None

    async def _decide(
        self,
        confirmation_id: str,
        decision: Decision,
        who: Approver,
        on_event: EventListener | None,
        key: str | None = None,
    ) -> tuple[Call, Result]:
        """Return the call and its result; `key` is the idempotency key where a runtime made one."""
        began, call = perf_counter(), Call(str(confirmation_id), {})
        by = {
            "confirmation": str(confirmation_id),
            "by": who.name or who.user,
            "by_via": who.via,
        }
        try:
            one = await self._find(str(confirmation_id), who.user)
            call = one.call
            await self._check_undecided(one, who.user, drops=decision.kind == "reject")
            withdrawn = decision.kind == "reject" and who.user == call.caller.user
            approves = one.kind == "review" and bool(one.approvals) and key is None
            yes = None
            if approves and not withdrawn:
                yes = yes_of(one, who, self._now())
                if more := roles_by_escalation(one, who, yes.at):
                    by = {**by, "approval_escalated": ", ".join(more)}
            if call.asked is None and decision.kind == "reject":
                await self._reject(one, withdrawn=withdrawn and who.user is not None)
            tool = await self._dispatcher.find(call)
            if yes is not None and decision.kind in {"approve", "edit"}:
                one = await self._step(tool, one, decision, yes, by)
                if not one.is_approved():
                    result = self._dispatcher.waits(tool, one, began)
                    return call, self._dispatcher.finish(call, result)
                decision = Decision.approve()
            if call.asked is None and decision.kind == "respond":
                await self._claim(one, "answered")
                recorder = self._dispatcher.recorder
                await recorder.write("answered", call, tool, call.arguments, by)
                result = answered(call, decision.text)
                await self._record(one, result, tool)
            else:
                call = await self._dispatcher.with_crisis_flag(one.call)
                one = one._replace(call=call)
                result = await self._approve(tool, one, decision, key, by, on_event, began)
        except Exception as error:  # noqa: BLE001 - any exception in a check denies
            result = await self._dispatcher.denied(call, error, began, by)
        return call, self._dispatcher.finish(call, result)

    async def of_call(self, host_name: str) -> tuple[Confirmation, ...]:
        """Return the questions of a host's call, decided or not, oldest first."""
        of_call, now = self._store.confirmations.of_call, self._clock()
        found: tuple[Confirmation, ...] = await AROUND.run(lambda: of_call(host_name, now))
        return tuple(map(ask_again, found))

    async def outcome(self, tool: CompiledTool, call: Call, began: float) -> Result | None:
        """Return what became of the question that the same call of its host led to before.

        None where the call led to none, or where its question expired or is out of date. Raises
        CallDenied where it was decided and has no recorded result.
        """
        assert call.host_name is not None
        try:
            found = await self.of_call(call.host_name)
            # An edit has no key: it follows the question that a person edited.
            same = [one for one in found
                    if one.call.tool == call.tool and one.call.key in {call.key, None}]  # fmt: skip
            one = same[-1] if same else None
            if one is None or one.state in {"expired", "stale"}:
                return None
            if one.state in UNDECIDED:
                return self._dispatcher.waits(tool, one.opened(), began)
            known = await self.find_result(one)
        except Exception as error:  # noqa: BLE001 - a store that can't be used denies
            raise guard_failed(call.tool, "confirmation", error) from None
        if known is None:
            raise deny("confirmation_used", f"This call was decided before: {one.state}.")
        return known

    async def find_result(self, one: Confirmation) -> Result | None:
        """Return the result that was recorded for a decided call of a host."""
        if one.state == "rejected":
            # The caller of a review may have withdrawn it.
            whose = "A person" if one.kind == "review" else _whose(one)
            failure = deny("rejected", NO.format(whose)).failure
            return Result(success=False, tool=one.tool, outcome="denied", error=failure,
                          tool_call_id=one.call.id)  # fmt: skip
        known: Result | None = await AROUND.run(lambda: find_record(self._store, one.id, one.call))
        return known

    async def _record(self, one: Confirmation, result: Result, tool: CompiledTool) -> None:
        """Record the result of a decided call, where its host may ask for it again."""
        if one.call.host_name is not None and one.call.asked is None:
            await AROUND.run(lambda: record(self._store, one.id, result, tool.call_spec))

    async def _reject(self, one: Confirmation, *, withdrawn: bool) -> None:
        await self._claim(one, "rejected")
        raise deny("rejected", NO.format("The user" if withdrawn else _whose(one)))

    async def _approve(  # noqa: PLR0913, PLR0917 - a decision, and the call that it runs
        self,
        tool: CompiledTool,
        one: Confirmation,
        decision: Decision,
        key: str | None,
        by: By,
        on_event: EventListener | None,
        began: float,
    ) -> Result:
        """Run a call as it was approved, or let it wait again. Raises CallDenied."""
        if one.call.is_of_a_run and key != one.call.key:
            # It would run a second time under its own key.
            message = f"A run waits for this call: it is decided there ({one.call.id})."
            raise deny("confirmation_not_found", message)
        await tool.invoker.prepare()
        if self._hash_of(tool, one.call.arguments) != one.bound_to:
            await self._claim(one, "stale")
            if one.call.asked is not None:
                raise deny("confirmation_stale", CHANGED)
            again = await self._add_stale(tool, one, by)
            return self._dispatcher.waits(tool, again, began)
        if one.call.asked is None:
            ready = await self._check_again(tool, one, decision.arguments, by)
        else:
            ready = await self._answer(tool, one, decision)
        if ready.id != one.id or ready.state == "pending":
            return self._dispatcher.waits(tool, ready, began)
        call = ready.call._replace(key=key or ready.call.key or one.id)
        at = Passage(call, began, on_event, by, again=one.state == "interrupted")
        at.arguments = dict(call.arguments)  # type: ignore[arg-type]  # they were validated
        try:
            result = (await self._dispatcher.run(at))._replace(budget=at.call.budget)
        except Exception as error:  # noqa: BLE001 - any exception in a check denies
            result = await self._dispatcher.denied(call, error, began, by)
        try:
            if ready.state == "running":
                state: ConfirmationState = "edited" if decision.arguments else "approved"
                await AROUND.run(lambda: self._store.confirmations.end(one.id, state))
            await self._record(one, result, tool)
        except Exception as error:  # noqa: BLE001 - the call has run: too late to deny it
            logged(error, "the end of the approved call %s was not recorded", one.id)
        return result._replace(notes=(*ready.notes, *result.notes))

    async def _check_again(
        self, tool: CompiledTool, one: Confirmation, edit: Mapping[str, Any], by: By
    ) -> Confirmation:
        """Check a call again as it was edited; return it claimed, or a new confirmation for it.

        Raises CallDenied.
        """
        after, call, verdict = await self._edit(tool, one, edit)
        escalated = verdict.action is Action.REVIEW and one.kind != "review"
        if escalated and one.approvals:
            approvals, _ = await self._approvals_of(tool, call, verdict)
            return await self._ask_next(tool, one, after._replace(
                kind="review", approvals=approvals, code=verdict.code, reason=verdict.message,
            ), by)  # fmt: skip
        escalated = escalated and (bool(edit) or not one.approved)
        yes = Approved(None, (), None, self._clock(), ())
        # An operator's yes is no word of the caller.
        needs_own = one.kind == "review" and not one.approvals and not one.approved
        if needs_own and (own := await self._asks_caller(tool, call)) is not None:
            return await self._ask_next(tool, one, after._replace(
                kind="confirm", approved=(yes,), code=own.code, reason=own.message,
            ), by)  # fmt: skip
        if tool.approvals and call.asked is None and not call.is_of_a_run:
            needed, _ = await self._approvals_of(tool, call, verdict)
            known = {each.number for each in one.approvals}
            escalated = escalated or not {each.number for each in needed} <= known
        arguments: Any = call.arguments
        # An edited critical call is shown again, with the values that would run.
        is_shown_again = bool(edit) and tool.call_spec.safety.sensitivity == "critical"
        if escalated or is_shown_again:
            await self._claim(one, "edited")
            verdict = verdict._replace(action=max(verdict.action, Action.CONFIRM))
            given = () if is_shown_again else (yes,)
            again = with_flag(after.call) if tool.escalates(_passage(call)) else after.call
            return await self.add(tool, again, arguments, verdict, after.notes, by, given)
        await tool.limits.check(call, arguments)
        # It waits for its turn as long as it may run.
        seconds, now = 2 * tool.invoker.seconds + SPARE_S, self._clock()
        stored = self._as_shown(tool, after)._replace(call=call)
        await self._won(one, lambda: self._store.confirmations.begin(stored, now, seconds))
        return stored._replace(call=after.call, state="running")

    async def _edit(
        self, tool: CompiledTool, one: Confirmation, edit: Mapping[str, Any]
    ) -> tuple[Confirmation, Call, Verdict]:
        """Return a confirmation as a person edited it, its checked call, and the verdict on that.

        What the person typed counts as words of the user in the call only. Raises CallDenied.
        """
        before = one.call.arguments
        assert isinstance(before, Mapping)
        at, verdict = await _check(tool, _apply_edit(one.call, edit))
        call = at.call._replace(arguments=at.arguments)
        whose = _whose(one)
        notes = (*one.notes, *changes(before, at.arguments, tool.call_spec.parameters, whose))
        bound_to = self._hash_of(tool, at.arguments)
        shown = call._replace(caller=one.call.caller)
        return one._replace(call=shown, notes=notes, bound_to=bound_to), call, verdict

    def _as_shown(self, tool: CompiledTool, one: Confirmation) -> Confirmation:
        """Return a confirmation with what people see of its call now."""
        arguments: Any = one.call.arguments
        approvals = one.approvals if one.kind == "review" else ()
        shown = show(tool, one.call, arguments, self._clock(), approvals=approvals)
        return one._replace(**shown._asdict())

    async def _step(
        self,
        tool: CompiledTool,
        one: Confirmation,
        decision: Decision,
        yes: Approved,
        by: By,
    ) -> Confirmation:
        """Return a call after a yes, or after the edit by an approver; stored where it still waits.

        Another person approves what an edited call says now. Raises CallDenied.
        """
        await tool.invoker.prepare()
        if self._hash_of(tool, one.call.arguments) != one.bound_to:
            # The tool changed: what follows stores it again, with fresh approvals.
            return one._replace(approvals=())
        if not decision.arguments:
            after = one._replace(approved=(*one.approved, yes))
        else:
            after, call, verdict = await self._edit(tool, one, decision.arguments)
            approvals, _ = await self._approvals_of(tool, call, verdict)
            after = self._as_shown(tool, after._replace(
                code=verdict.code, reason=verdict.message, approvals=approvals, approved=(),
                proposed_by=(*one.proposed_by, *([yes.user] if yes.user else [])),
            ))  # fmt: skip
        if not after.is_approved():
            now = self._clock()
            advance = self._store.confirmations.advance
            await self._won(one, lambda: advance(after, one, now, edited=bool(decision.arguments)))
            await self._dispatcher.recorder.waits(after, tool, by)
        return after

    async def _ask_next(
        self, tool: CompiledTool, one: Confirmation, after: Confirmation, by: By
    ) -> Confirmation:
        """Store and record a call that one person confirmed for the next, under the same id."""
        now = self._clock()
        after = self._as_shown(tool, after)
        after = after._replace(expires=now + self._waits_s(tool, after))
        advance, edited = self._store.confirmations.advance, after.bound_to != one.bound_to
        await self._won(one, lambda: advance(after, one, now, edited=edited))
        await self._dispatcher.recorder.waits(after, tool, by)
        return after

    def _waits_s(self, tool: CompiledTool, one: Confirmation) -> float:
        """Return how long a call waits for a person, in seconds; a crisis review never ends."""
        own = tool.approvals.expires_s(one.approvals) if one.kind == "review" else None
        if own is None and one.kind == "review" and one.call.caller.crisis:
            return FAR
        return own or self._dispatcher.settings.confirmations.expires

    async def _answer(
        self, tool: CompiledTool, one: Confirmation, decision: Decision
    ) -> Confirmation:
        """Claim the call of a server's question, with the person's answer; a no declines it.

        Raises CallDenied; the question is open then.
        """
        call, asked = one.call, one.call.asked
        assert asked is not None
        if not tool.invoker.may_answer(asked):
            raise deny("confirmation_elsewhere", ELSEWHERE)
        await _check(tool, call)
        if decision.kind == "reject":
            await self._claim(one, "rejected")
            asked = asked._replace(action="decline", content={})
        else:
            content = values_for(asked, decision)
            await self._claim(one, "answered")
            asked = asked._replace(action="accept", content=content)
        return one._replace(call=call._replace(asked=asked), state="answered")

    async def _add_stale(self, tool: CompiledTool, one: Confirmation, by: By) -> Confirmation:
        """Store a call again, as the tool is now. Raises CallDenied where it can't wait."""
        call = one.call
        try:
            at, verdict = await _check(tool, call)
        except CallDenied as denial:
            why = denial.failure
            message = f"The tool or its policy changed since this call was stored: {why.message}"
            raise deny("confirmation_stale", message, why.details, why.retry_after_ms) from None
        details = verdict.details or (Problem(verdict.code, "", verdict.message),)
        action = max(verdict.action, Action.CONFIRM)
        stale = Verdict(action, "confirmation_stale", STALE, details)
        return await self.add(tool, at.call, at.arguments, stale, one.notes, by)

    async def _find(self, confirmation_id: str, user: str | None) -> Confirmation:
        """Return a confirmation that this user may see, decided or not. Raises CallDenied.

        A host that names no user decides for its operator.
        """
        try:
            one = await self._read(confirmation_id)
        except Exception as error:  # noqa: BLE001 - a store that can't be used denies
            raise guard_failed("the pending call", "confirmation", error) from None
        others = one is not None and user is not None and one.call.caller.user not in {None, user}
        if one is None or (others and one.kind == "confirm"):
            message = f"No confirmation has the id {confirmation_id[:40]!r}."
            raise deny("confirmation_not_found", message)
        return one

    async def _check_undecided(self, one: Confirmation, user: str | None, *, drops: bool) -> None:
        """Check that this user may take this decision, still. Raises CallDenied.

        The caller can't decide the review of their own call: with `drops` they may only withdraw
        it.
        """
        if one.state == "superseded":
            raise deny("confirmation_used", SUPERSEDED)
        if one.state == "expired":
            claim, now = self._store.confirmations.claim, self._clock()
            await AROUND.run(lambda: claim(one.id, "expired", now))
            if one.kind == "review" and one.approvals:
                message = "Nobody approved this call in time: call the tool again."
                raise deny("approval_expired", message)
            message = "The time to confirm this call is over: call the tool again."
            raise deny("confirmation_expired", message)
        if one.state not in UNDECIDED:
            raise deny("confirmation_used", f"This call was decided before: {one.state}.")
        is_own = user is not None and user == one.call.caller.user
        if one.kind == "review" and is_own and not drops and one.approvals:
            needed = " and ".join(who_may(each, self._clock()) for each in one.approvals)
            raise deny("not_allowed", f"Nobody approves their own call: it waits for {needed}.")
        if one.kind == "review" and is_own and not drops:
            raise deny("review_required", NOT_YOURS)

    async def _claim(self, one: Confirmation, state: ConfirmationState) -> None:
        """Claim a pending call. Raises CallDenied where another decision was faster."""
        claim, now = self._store.confirmations.claim, self._clock()
        await self._won(one, lambda: claim(one.id, state, now))

    async def _won(self, one: Confirmation, claim: Callable[[], bool]) -> None:
        try:
            won = await AROUND.run(claim)
        except Exception as error:  # noqa: BLE001 - a store that can't be used denies
            raise guard_failed(one.call.tool, "confirmation", error) from None
        if not won:
            raise deny("confirmation_used", "This call was decided before.")

    async def _read(self, confirmation_id: str) -> Confirmation | None:
        # A host may pass anything as an id: only text names a confirmation.
        name, now = str(confirmation_id), self._clock()
        found: Confirmation | None
        found = await AROUND.run(lambda: self._store.confirmations.get(name, now))
        return None if found is None else ask_again(found)

    def _hash_of(self, tool: CompiledTool, arguments: Any) -> str:
        """Return the hash that an approval is bound to: exactly this call of exactly this tool."""
        safety = self._dispatcher.settings.safety
        policy = [safety.default_min, safety.floor, tool.default_min, list(safety.crisis_words),
                  safety.on_missing_confidence]  # fmt: skip
        canonical = plain_numbers(dict(arguments))
        parts = [tool.hash, tool.invoker.implementation_hash, policy, canonical]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _whose(one: Confirmation) -> str:
    """Return who decides, for a model: it learns no name, which the record has."""
    return "The user" if one.kind == "confirm" else "The approver"


def _needs_operator(verdict: Verdict) -> bool:
    """Return whether a call needs a review besides the approvals that its file states."""
    codes = {one.code for one in verdict.details} or {verdict.code}
    return verdict.action is Action.REVIEW and codes != {"approval_required"}


def _passage(call: Call) -> Passage:
    """Return the passage of a call with validated arguments."""
    at = Passage(call, 0.0)
    at.arguments = dict(call.arguments)  # type: ignore[arg-type]  # they were validated
    return at


async def _check(tool: CompiledTool, call: Call) -> tuple[Passage, Verdict]:
    """Return a call with its arguments and the verdict on it, as all checks are now.

    Raises CallDenied.
    """
    at = Passage(call, 0.0)
    verdict = await tool.check(at)
    if verdict.action is Action.DENY:
        raise denial_of(verdict)
    return at, verdict


def _apply_edit(call: Call, edit: Mapping[str, Any]) -> Call:
    """Return a call with the arguments that a person edited."""
    if not edit:
        return call
    assert isinstance(call.arguments, dict)
    # Values that the user typed into the form count as stated by the user.
    typed = json.dumps(dict(edit), ensure_ascii=False, default=str)
    caller = call.caller._replace(message=f"{call.caller.message}\n{typed}")
    # It is another call than the one that its host named.
    key = call.key if call.is_of_a_run else None
    return call._replace(arguments={**call.arguments, **edit}, caller=caller, key=key)
