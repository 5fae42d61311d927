"""Store calls for confirmation, and resume each once, exactly as it was approved."""

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from toolmd._call.compiled import CompiledTool, CompiledTools
from toolmd._call.confirmation.corrections import add_replacing
from toolmd._call.confirmation.shown import NOT_YOURS, asked_again, edited_call, shown_of, words_of
from toolmd._call.denial import CallDenied, deny, guard_failed, overruled
from toolmd._call.threads import AROUND
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.confirmation import EXPIRES_S, UNDECIDED, Confirmation, ConfirmationState
from toolmd._types.result import ConfirmationRequest
from toolmd._types.settings import SafetySettings
from toolmd._types.verdict import Action, Verdict
from toolmd._validation.redact import changes
from toolmd.errors import UnreachableError

SPARE_S = 10.0
"""How much longer than its wait and its Timeout an approved call may take, in seconds."""
SUPERSEDED = "A later call corrected this one: decide that one instead."
STALE = "The tool or its policy changed since this call was stored: it must be confirmed again."


class ApprovedCall(NamedTuple):
    """An approved call, ready to run."""

    call: Call
    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()
    edited: bool = False
    again: bool = False
    """Whether it may have run before, and a person says that it shall run again."""


class Stopped(NamedTuple):
    """A decision that runs nothing yet: the call waits for a new confirmation."""

    call: Call
    arguments: dict[str, Any]
    confirmation: ConfirmationRequest
    verdict: Verdict
    """Why it waits again: an action stricter than ALLOW."""
    notes: tuple[str, ...] = ()
    stale: bool = False


class ConfirmationFlow:
    """The pending calls and the way through their confirmation."""

    def __init__(
        self,
        store: Store,
        safety: SafetySettings,
        tools: CompiledTools,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Keep the parts; `clock` returns seconds since the epoch."""
        self._store = store
        self._safety = safety
        self._tools = tools
        self._clock = clock

    async def store_call(
        self,
        tool: CompiledTool,
        call: Call,
        arguments: Mapping[str, Any],
        verdict: Verdict,
        notes: tuple[str, ...] = (),
    ) -> ConfirmationRequest:
        """Store a call until a person decides; a dry run stores nothing. Raises CallDenied.

        A call whose server asked for input waits for the answer instead of a yes. `notes` go into
        its result: what a person changed in it before.
        """
        call_spec = tool.call_spec
        sensitivity = call_spec.safety.sensitivity or "low"
        words = words_of(tool, call, arguments, verdict)
        shown, prompt = shown_of(tool, call, arguments, words)
        if call.dry_run:
            return ConfirmationRequest("", prompt, sensitivity)
        await tool.invoker.prepare()
        now = self._clock()
        kind: Literal["confirm", "review"] = (
            "review" if verdict.action is Action.REVIEW else "confirm"
        )
        confirmation = Confirmation(
            id=secrets.token_urlsafe(9).replace("-", "a"),
            kind=kind,
            call=call._replace(arguments=dict(arguments)),
            bound_to=self.approval_hash(tool, arguments),
            prompt=prompt,
            sensitivity=sensitivity,
            created=now,
            expires=now + EXPIRES_S,
            shown=shown,
            notes=notes,
            words=words,
        )
        try:
            replaced = await AROUND.run(
                lambda: add_replacing(self._store.confirmations, call_spec, confirmation)
            )
        except Exception as error:  # noqa: BLE001 - a store that can't be used denies
            raise guard_failed(call_spec.name, "confirmation", error) from None
        return ConfirmationRequest(
            confirmation.id, prompt, sensitivity, replaced, confirmation.form
        )

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

    async def find(self, confirmation_id: str, user: str | None) -> Confirmation:
        """Return a confirmation that this user may see, decided or not. Raises CallDenied.

        A host that names no user decides for its operator.
        """
        try:
            # A host may pass anything as an id: only text names a confirmation.
            confirmation = await self._read(str(confirmation_id))
        except Exception as error:  # noqa: BLE001 - as above
            raise guard_failed("the pending call", "confirmation", error) from None
        other = (
            confirmation is not None
            and user is not None
            and confirmation.call.caller.user not in (None, user)
        )
        if confirmation is None or (other and confirmation.kind == "confirm"):
            raise deny(
                "confirmation_not_found",
                f"No confirmation has the id {str(confirmation_id)[:40]!r}.",
            )
        return confirmation

    async def check_decision(
        self, confirmation: Confirmation, user: str | None, *, drops: bool = False
    ) -> None:
        """Check that this user may take this decision, still.

        The caller can't decide the review of their own call: with `drops` they may only withdraw
        it.
        """
        if confirmation.state == "superseded":
            raise deny("confirmation_used", SUPERSEDED)
        if confirmation.state not in {*UNDECIDED, "expired"}:
            raise deny("confirmation_used", f"This call was decided before: {confirmation.state}.")
        if confirmation.state == "expired":
            claim, now = self._store.confirmations.claim, self._clock()
            await AROUND.run(lambda: claim(confirmation.id, "expired", now))
            message = "The time to confirm this call is over: call the tool again."
            raise deny("confirmation_expired", message)
        is_own = user is not None and user == confirmation.call.caller.user
        if confirmation.kind == "review" and is_own and not drops:
            raise deny("review_required", NOT_YOURS)

    async def resume(
        self, confirmation: Confirmation, edit: Mapping[str, Any] | None, key: str | None
    ) -> ApprovedCall | Stopped:
        """Approve a pending call, edited or as it is. Raises CallDenied.

        All checks of arguments, rules and guards run again. If the caller or the tool's
        requirements changed, the call waits for a new confirmation.
        """
        tool = await self._tools.find(confirmation.call)
        before = confirmation.call.arguments
        assert isinstance(before, dict)
        await tool.invoker.prepare()
        if self.approval_hash(tool, before) != confirmation.bound_to:
            await self.claim(confirmation, "stale")
            return await self._store_stale(tool, confirmation)
        arguments = tool.arguments(confirmation.call)
        call = edited_call(confirmation.call, edit)
        if edit:
            arguments = tool.arguments(call)
        verdict = await tool.verdict(call, arguments)
        if verdict.action is Action.DENY:
            raise overruled(verdict)
        escalated = verdict.action is Action.REVIEW and confirmation.kind != "review"
        notes = (*confirmation.notes, *changes(before, arguments, tool.call_spec.parameters))
        # An edited critical call is shown again, with the values that would run.
        if escalated or (edit and tool.call_spec.safety.sensitivity == "critical"):
            await self.claim(confirmation, "edited")
            again = call._replace(caller=confirmation.call.caller)
            return await self._store_again(tool, again, arguments, verdict, notes)
        await tool.limits.check(call)
        await self._begin(confirmation, tool, call._replace(arguments=arguments))
        runs = call._replace(
            arguments=arguments,
            caller=confirmation.call.caller,
            key=key or call.key or confirmation.id,
        )
        died = confirmation.state == "interrupted"
        return ApprovedCall(runs, arguments, notes, edited=bool(edit), again=died)

    def pending(
        self, user: str | None, after: tuple[float, str] | None = None
    ) -> Iterator[Confirmation]:
        """Yield the pending calls of one user or of all, without those that a run asks for.

        The calling thread waits where the store is locked.
        """
        kept = self._store.confirmations.pending(self._clock(), user=user, after=after)
        return (h for h in map(asked_again, kept) if h is not None and not h.call.is_of_a_run)

    async def claim(self, confirmation: Confirmation, state: ConfirmationState) -> None:
        """Claim a pending call. Raises CallDenied where another decision was faster."""
        claim, now = self._store.confirmations.claim, self._clock()
        await self._won(confirmation, lambda: claim(confirmation.id, state, now))

    async def end(self, confirmation_id: str, *, edited: bool) -> None:
        """Note that an approved call has a result; else a person is asked about it again."""
        state: ConfirmationState = "edited" if edited else "approved"
        await AROUND.run(lambda: self._store.confirmations.end(confirmation_id, state))

    async def _begin(self, confirmation: Confirmation, tool: CompiledTool, call: Call) -> None:
        """Claim a call that runs now. Raises CallDenied where another decision was faster."""
        assert isinstance(call.arguments, dict)
        shown, prompt = shown_of(tool, call, call.arguments)
        bound = self.approval_hash(tool, call.arguments)
        approved = confirmation._replace(call=call, shown=shown, prompt=prompt, bound_to=bound)
        # It waits for its turn as long as it may run.
        seconds, now = 2 * tool.invoker.seconds + SPARE_S, self._clock()
        begin = self._store.confirmations.begin
        await self._won(confirmation, lambda: begin(approved, now, seconds))

    async def _won(self, confirmation: Confirmation, claim: Callable[[], bool]) -> None:
        try:
            won = await AROUND.run(claim)
        except Exception as error:  # noqa: BLE001 - as above
            raise guard_failed(confirmation.call.tool, "confirmation", error) from None
        if not won:
            raise deny("confirmation_used", "This call was decided before.")

    async def _read(self, confirmation_id: str) -> Confirmation | None:
        found: Confirmation | None = await AROUND.run(
            lambda: self._store.confirmations.get(confirmation_id, self._clock())
        )
        return asked_again(found)

    async def _store_stale(self, tool: CompiledTool, confirmation: Confirmation) -> Stopped:
        """Store a call again, as the tool is now. Raises CallDenied where it can't wait."""
        call = confirmation.call
        try:
            tool.check_caller(call)
            arguments = tool.arguments(call)
            verdict = await tool.verdict(call, arguments)
            if verdict.action is Action.DENY:
                raise overruled(verdict)
        except CallDenied as denial:
            raise _denied_now(denial) from None
        stale = verdict._replace(code="confirmation_stale", message=STALE)
        again = await self._store_again(tool, call, arguments, stale, confirmation.notes)
        return again._replace(stale=True)

    async def _store_again(
        self,
        tool: CompiledTool,
        call: Call,
        arguments: dict[str, Any],
        verdict: Verdict,
        notes: tuple[str, ...],
    ) -> Stopped:
        verdict = verdict._replace(action=max(verdict.action, Action.CONFIRM))
        confirmation = await self.store_call(tool, call, arguments, verdict, notes)
        return Stopped(call, arguments, confirmation, verdict, notes)

    def approval_hash(self, tool: CompiledTool, arguments: Mapping[str, Any]) -> str:
        """Return the hash that an approval is bound to: exactly this call of exactly this tool."""
        safety = self._safety
        policy = [safety.default_min, safety.floor, tool.default_min, list(safety.crisis_words),
                  safety.on_missing_confidence]  # fmt: skip
        parts = [tool.hash, tool.invoker.implementation_hash, policy, dict(arguments)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _denied_now(denial: CallDenied) -> CallDenied:
    why = denial.failure
    message = f"The tool or its policy changed since this call was stored: {why.message}"
    return deny("confirmation_stale", message, why.details, why.retry_after_ms)
