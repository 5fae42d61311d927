"""Hold calls for a person's decision, and redeem them: once, and only as they were approved."""

import hashlib
import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from toolmd._call.confirm.holds import Holds
from toolmd._call.confirm.prompt import prompt_of
from toolmd._call.locked import WAIT_S, Patience
from toolmd._call.ready import ReadyTool, ReadyTools
from toolmd._call.refusal import Refusal, guard_failed, overruled, refuse
from toolmd._model.call import Call
from toolmd._model.held import HeldCall, HeldState
from toolmd._model.result import Held
from toolmd._model.settings import SafetySettings
from toolmd._model.verdict import Ruling, Verdict
from toolmd._values.redact import changes, redacted

EXPIRES_S = 600.0
"""How long a held call may be approved, in seconds."""


STALE = "The tool or its policy changed since this call was held: it must be confirmed anew."

NOT_YOURS = (
    "This call waits for somebody who looks after the system, not for the user who made it:"
    " they find it under `toolmd pending`, or on the console's page of what waits."
)


class Redeemed(NamedTuple):
    """A held call that was approved: what runs now."""

    call: Call
    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()


class Stopped(NamedTuple):
    """A decision that runs nothing yet: the call is held anew."""

    call: Call
    arguments: dict[str, Any]
    held: Held
    verdict: Verdict
    """Why it is held anew: stricter than ALLOW."""
    notes: tuple[str, ...] = ()
    stale: bool = False


class Desk:
    """Where held calls wait."""

    def __init__(
        self,
        holds: Holds,
        safety: SafetySettings,
        tools: ReadyTools,
        patience: Patience,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Keep them in `holds`; `clock` gives seconds since the epoch."""
        self._holds = holds
        self._safety = safety
        self._tools = tools
        self._patience = patience
        self._clock = clock

    async def hold(
        self,
        tool: ReadyTool,
        call: Call,
        arguments: Mapping[str, Any],
        ruling: Ruling,
        notes: tuple[str, ...] = (),
    ) -> Held:
        """Keep a call until somebody decides; a dry run keeps nothing. Raises a Refusal.

        `notes` are told with its result: what a person changed in it before.
        """
        contract = tool.contract
        sensitivity = contract.safety.sensitivity or "low"
        shown = redacted(arguments, contract.parameters)
        prompt = prompt_of(contract, shown)
        if call.dry_run:
            return Held("", prompt, sensitivity)
        await tool.invoker.prepare()
        now = self._clock()
        kind: Literal["confirm", "review"] = "review" if ruling is Ruling.REVIEW else "confirm"
        held = HeldCall(
            id=secrets.token_urlsafe(9).replace("-", "a"),
            kind=kind,
            call=call._replace(arguments=dict(arguments)),
            bound_to=self._bound(tool, arguments),
            prompt=prompt,
            sensitivity=sensitivity,
            created=now,
            expires=now + EXPIRES_S,
            shown=shown,
            notes=notes,
        )
        try:
            await self._patience.give(lambda: self._holds.add(held))
        except (sqlite3.Error, OSError) as error:
            raise guard_failed(contract.name, "confirmation", error) from None
        return Held(held.id, prompt, sensitivity)

    async def look(self, held_id: str) -> HeldCall | None:
        """Give a held call, decided or not; None where it can't be read."""
        try:
            return await self._patience.give(lambda: self._holds.get(held_id))
        except (sqlite3.Error, OSError):
            return None

    def look_sync(self, held_id: str) -> HeldCall | None:
        """Do as `look`, for those who can't await; the calling thread waits."""
        try:
            return self._holds.get(held_id, wait_s=WAIT_S)
        except (sqlite3.Error, OSError):
            return None

    async def find(self, held_id: str, user: str | None) -> HeldCall:
        """Give a call that this user may know of, decided or not; raises a Refusal.

        A host that names no user decides for its operator.
        """
        try:
            # A host may hand on anything as an id: nothing is held under what is no text.
            held = await self._patience.give(lambda: self._holds.get(str(held_id)))
        except (sqlite3.Error, OSError) as error:
            raise guard_failed("the held call", "confirmation", error) from None
        other = held is not None and user is not None and held.call.caller.user not in (None, user)
        if held is None or (other and held.kind == "confirm"):
            raise refuse("confirmation_not_found", f"No call is held under {str(held_id)[:40]!r}.")
        return held

    async def admit(self, held: HeldCall, user: str | None, *, drops: bool = False) -> None:
        """Refuse a decision that this user can't take, or can't any more.

        What waits for a review is not its own caller's to decide: with `drops` they may only
        take it back.
        """
        if held.state not in {"pending", "expired"}:
            raise refuse("confirmation_used", f"This call was decided before: {held.state}.")
        if held.state == "expired" or self._is_over(held):
            await self._patience.give(lambda: self._holds.claim(held.id, "expired"))
            message = "The time to confirm this call is over: call the tool again."
            raise refuse("confirmation_expired", message)
        is_own = user is not None and user == held.call.caller.user
        if held.kind == "review" and is_own and not drops:
            raise refuse("held_for_review", NOT_YOURS)

    async def redeem(
        self, held: HeldCall, edit: Mapping[str, Any] | None, key: str | None
    ) -> Redeemed | Stopped:
        """Approve a held call, edited or as it is; raises a Refusal.

        Whatever could stop the call is asked again: the arguments, the rules, the judges. Its
        caller and what the tool asks of callers are as they were, or it is held anew.
        """
        tool = self._tools.find(held.call)
        before = held.call.arguments
        assert isinstance(before, dict)
        await tool.invoker.prepare()
        if self._bound(tool, before) != held.bound_to:
            await self.claim(held, "stale")
            return await self._anew(tool, held)
        arguments = tool.arguments(held.call)
        call = _edited(held.call, edit)
        if edit:
            arguments = tool.arguments(call)
        verdict = await tool.judge(call, arguments)
        if verdict.ruling is Ruling.DENY:
            raise overruled(verdict)
        escalated = verdict.ruling is Ruling.REVIEW and held.kind != "review"
        notes = (*held.notes, *changes(before, arguments, tool.contract.parameters))
        # An edit of a critical call is shown once more, with the values that would run.
        if escalated or (edit and tool.contract.safety.sensitivity == "critical"):
            await self.claim(held, "edited")
            again = call._replace(caller=held.call.caller)
            return await self._again(tool, again, arguments, verdict, notes)
        tool.limits.check(call)
        await self.claim(held, "edited" if edit else "approved")
        runs = call._replace(arguments=arguments, caller=held.call.caller, key=key or held.id)
        return Redeemed(runs, arguments, notes)

    def pending(self, user: str | None) -> tuple[HeldCall, ...]:
        """Give what waits, for one user or for all; what a run holds, it asks for itself.

        The calling thread waits where the store is locked.
        """
        kept = self._holds.pending(self._clock(), wait_s=WAIT_S)
        waiting = (h for h in kept if not self._is_over(h))
        asked = (h for h in waiting if not h.call.is_of_a_run)
        return tuple(h for h in asked if user is None or h.call.caller.user == user)

    def _is_over(self, held: HeldCall) -> bool:
        """Tell whether the time to decide is over; so too where the clock went far back since.

        How long a call waited that is held in the future can't be told.
        """
        assert held.expires is not None
        return not held.created - EXPIRES_S <= self._clock() < held.expires

    async def claim(self, held: HeldCall, state: HeldState) -> None:
        """Take a held call out of waiting; raises a Refusal where somebody was quicker."""
        try:
            won = await self._patience.give(lambda: self._holds.claim(held.id, state))
        except (sqlite3.Error, OSError) as error:
            raise guard_failed(held.call.tool, "confirmation", error) from None
        if not won:
            raise refuse("confirmation_used", "This call was decided before.")

    async def _anew(self, tool: ReadyTool, held: HeldCall) -> Stopped:
        """Hold a call anew, as the tool is now; raises a Refusal where it would not be held."""
        call = held.call
        try:
            tool.admit(call)
            arguments = tool.arguments(call)
            verdict = await tool.judge(call, arguments)
            if verdict.ruling is Ruling.DENY:
                raise overruled(verdict)
        except Refusal as refusal:
            raise _refused_now(refusal) from None
        stale = verdict._replace(code="confirmation_stale", message=STALE)
        again = await self._again(tool, call, arguments, stale, held.notes)
        return again._replace(stale=True)

    async def _again(
        self,
        tool: ReadyTool,
        call: Call,
        arguments: dict[str, Any],
        verdict: Verdict,
        notes: tuple[str, ...],
    ) -> Stopped:
        ruling = max(verdict.ruling, Ruling.CONFIRM)
        held = await self.hold(tool, call, arguments, ruling, notes)
        return Stopped(call, arguments, held, verdict._replace(ruling=ruling), notes)

    def _bound(self, tool: ReadyTool, arguments: Mapping[str, Any]) -> str:
        """Give what an approval is good for: exactly this call of exactly this tool."""
        safety = self._safety
        policy = [safety.default_min, safety.floor, tool.default_min, list(safety.crisis_words),
                  safety.on_missing_confidence]  # fmt: skip
        parts = [tool.hash, tool.invoker.implementation_hash(), policy, dict(arguments)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _refused_now(refusal: Refusal) -> Refusal:
    why = refusal.failure() if callable(refusal.failure) else refusal.failure
    message = f"The tool or its policy changed since this call was held: {why.message}"
    return refuse("confirmation_stale", message, why.details, why.retry_after_ms)


def _edited(call: Call, edit: Mapping[str, Any] | None) -> Call:
    if not edit:
        return call
    assert isinstance(call.arguments, dict)
    # What the user typed into the form is said by the user.
    typed = json.dumps(dict(edit), ensure_ascii=False, default=str)
    caller = call.caller._replace(message=f"{call.caller.message}\n{typed}")
    return call._replace(arguments={**call.arguments, **edit}, caller=caller)
