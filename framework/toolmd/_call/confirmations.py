"""Store calls for confirmation, and resume each once, exactly as it was approved."""

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from toolmd._call.checks import OF_WORDS
from toolmd._call.compiled import CompiledTool, CompiledTools
from toolmd._call.denial import CallDenied, deny, guard_failed, overruled
from toolmd._call.result import REPLACES
from toolmd._call.threads import AROUND
from toolmd._store.confirmations import ConfirmationStore
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.confirmation import EXPIRES_S, UNDECIDED, Confirmation, ConfirmationState
from toolmd._types.result import ConfirmationRequest
from toolmd._types.schema import Schema
from toolmd._types.settings import SafetySettings
from toolmd._types.verdict import Action, Verdict
from toolmd._validation import read_object
from toolmd._validation.redact import changes, redacted
from toolmd.errors import UnreachableError, hidden

MAX_WORDS = 400
"""The most characters of the user's words that a question shows, the last ones."""
NOT_YOURS = (
    "This call waits for an operator, not for the user who made it. Operators find it with"
    " `toolmd pending`, or on the console's page of pending calls."
)
INTERRUPTED = (
    "It was approved before, and its process ended without a result. Look whether it took effect:"
    " a yes runs it again. "
)


def shown_of(
    tool: CompiledTool, call: Call, arguments: Mapping[str, Any], words: str = ""
) -> tuple[Mapping[str, Any], str]:
    """Return what a person sees of a call: its arguments, and the question with the `words`."""
    asked, spec = call.asked, tool.call_spec
    if asked is not None:
        return asked.defaults, asked.prompt
    shown = redacted(arguments, spec.parameters)
    return shown, prompt_of(spec, shown, call.arguments, words)


def words_of(tool: CompiledTool, call: Call, arguments: Mapping[str, Any], verdict: Verdict) -> str:
    """Return the sentence with the user's words, where these are in doubt; else nothing."""
    codes = {verdict.code, *(one.code for one in verdict.details)}
    said = " ".join(" ".join((*call.caller.earlier, call.caller.message)).split())
    if not said or not codes & OF_WORDS:
        return ""
    with tool.hiding(arguments):
        said = hidden(said)
    return f" You said: “{said if len(said) <= MAX_WORDS else f'…{said[-MAX_WORDS:]}'}”."


def asked_again(confirmation: Confirmation | None) -> Confirmation | None:
    """Return a confirmation with the reason why it is asked again, if it is."""
    if confirmation is None or confirmation.state != "interrupted":
        return confirmation
    return confirmation._replace(prompt=INTERRUPTED + confirmation.prompt)


def edited_call(call: Call, edit: Mapping[str, Any] | None) -> Call:
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


def prompt_of(
    call_spec: ToolCallSpec, shown: Mapping[str, Any], given: object, words: str = ""
) -> str:
    """Return `I'd like to create reminder: title: Walk, days: 1,2. Is this correct?`.

    Args:
        call_spec: The tool's.
        shown: The arguments with defaults, without Sensitive values.
        given: What the call gave, an object or its JSON text; defaults are not named.
        words: A sentence with the user's words.
    """
    names = given if isinstance(given, Mapping) else read_object(given)
    told = ", ".join(f"{name}: {_told(shown[name])}" for name in shown if name in names)
    what = call_spec.name.replace("_", " ").replace("-", " ")
    critical = call_spec.safety.sensitivity == "critical"
    ending = "Please confirm these details are correct." if critical else "Is this correct?"
    return f"I'd like to {what}{': ' if told else ''}{told}.{words} {ending}"


def _told(value: Any) -> str:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ",".join(_told(item) for item in value) or "none"
    return json.dumps(value, ensure_ascii=False)


def add_replacing(
    store: ConfirmationStore, call_spec: ToolCallSpec, confirmation: Confirmation
) -> tuple[str, ...]:
    """Store a confirmation, and end the one whose call it corrects; return the ended id, if any."""
    call = confirmation.call
    replaced: tuple[str, ...] = ()
    if call.caller.conversation is not None and not call.is_of_a_run and call.asked is None:
        old = _corrected(call_spec, call, store.pending(confirmation.created, call.tool))
        if old is not None and store.claim(old.id, "superseded", confirmation.created):
            replaced = (old.id,)
    notes = (*confirmation.notes, *map(REPLACES.format, replaced))
    store.add(confirmation._replace(notes=notes))
    return replaced


def _corrected(
    call_spec: ToolCallSpec, call: Call, pending: Iterable[Confirmation]
) -> Confirmation | None:
    """Return the pending call that this call corrects, or None.

    A correction has the same tool, user and conversation, comes later in it, keeps what the call
    is about and changes something else. What a call is about are its required texts, such as a
    title or a list of names; a call of a tool without any keeps some other required argument.
    Of several, the most similar one is meant; where two are as similar, none is.
    """
    arguments = call.arguments
    assert isinstance(arguments, Mapping)
    required = [parameter for parameter in call_spec.parameters if parameter.required]
    names = {p.name for p in required if _names_something(p.shape)} or {p.name for p in required}
    kept = [
        (_kept(arguments, one.call.arguments, names), one)
        for one in pending
        if _comes_before(one, call)
    ]
    most = max((count for count, _ in kept), default=0)
    similar = [one for count, one in kept if count == most]
    return similar[0] if most and len(similar) == 1 else None


def _comes_before(one: Confirmation, call: Call) -> bool:
    """Return whether a pending call is of an earlier message of the same conversation."""
    before = one.call
    return (
        one.kind == "confirm"
        and one.state == "pending"
        and not before.is_of_a_run
        and before.asked is None
        and (before.tool, before.caller.user) == (call.tool, call.caller.user)
        and before.caller.conversation == call.caller.conversation
        # The calls of one reply or message belong together.
        and (before.reply is None or before.reply != call.reply)
        and not (call.caller.message and before.caller.message == call.caller.message)
    )


def _kept(new: Mapping[str, Any], old: Any, names: set[str]) -> int:
    """Return how many arguments a correction keeps; 0 if it is none."""
    every = new.keys() | old.keys()
    equal = {name for name in every if _text(new, name) == _text(old, name)}
    return len(equal) if equal & names and equal < every else 0


def _text(arguments: Mapping[str, Any], name: str) -> str:
    # As JSON text, where true is not 1.
    return json.dumps(arguments[name], sort_keys=True) if name in arguments else ""


def _names_something(shape: Schema) -> bool:
    if shape.items is not None:
        return _names_something(shape.items)
    return shape.types == ("string",) and shape.enum is None and shape.format is None


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
