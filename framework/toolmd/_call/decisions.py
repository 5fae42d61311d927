"""The decisions of people on pending calls: approve, edit, reject or respond, once."""

import json
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

from toolmd._call.arguments import mismatch
from toolmd._call.audit.recorder import Recorder
from toolmd._call.compiled import CompiledTool, CompiledTools
from toolmd._call.confirmations import ApprovedCall, ConfirmationFlow, Stopped
from toolmd._call.denial import CallDenied, deny, overruled
from toolmd._call.pipeline import Pipeline
from toolmd._call.result import answered, stale, stopped
from toolmd._types.asked import Asked, InputRequiredError
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation, ConfirmationState, Decided
from toolmd._types.result import EventListener, Result
from toolmd._types.verdict import Action
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError, MalformedError
from toolmd.errors import logged

CHANGED = "The tool or its policy changed since its server asked: call the tool again."
ELSEWHERE = (
    "The server waits for this answer in another process, or not any more. Answer in the console or"
    " the client that made the call, or call the tool again."
)


async def answer(
    flow: ConfirmationFlow,
    tool: CompiledTool,
    confirmation: Confirmation,
    given: Mapping[str, Any] | None,
) -> ApprovedCall:
    """Return the call of a server's question, with the answer; None declines to answer.

    Raises CallDenied; the question is open then, unless the tool changed.
    """
    call, asked = confirmation.call, confirmation.call.asked
    assert asked is not None
    assert isinstance(call.arguments, dict)
    await tool.invoker.prepare()
    if flow.approval_hash(tool, call.arguments) != confirmation.bound_to:
        await flow.claim(confirmation, "stale")
        raise deny("confirmation_stale", CHANGED)
    if not tool.invoker.may_answer(asked):
        raise deny("confirmation_elsewhere", ELSEWHERE)
    verdict = await tool.verdict(call, call.arguments)
    if verdict.action is Action.DENY:
        raise overruled(verdict)
    content = {} if given is None else content_of(asked, given)
    await flow.claim(confirmation, "rejected" if given is None else "answered")
    answered = asked._replace(action="decline" if given is None else "accept", content=content)
    runs = call._replace(asked=answered, key=call.key or confirmation.id)
    return ApprovedCall(runs, call.arguments, confirmation.notes)


def content_of(asked: Asked, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for a server's form. Raises CallDenied for those that do not fit."""
    try:
        return ArgumentsValidator(asked.fields).validate({**asked.defaults, **given})
    except (MalformedError, InvalidArgumentsError) as error:
        raise CallDenied(mismatch(error)) from None


def values_of(asked: Asked, text: str) -> dict[str, Any]:
    """Return the values that a text stands for: an object as JSON, or that of the only field.

    Raises CallDenied where a form has several fields.
    """
    if len(asked.fields) == 1 and asked.fields[0].shape.types == ("string",):
        return {asked.fields[0].name: text}
    try:
        return ArgumentsValidator(asked.fields).validate(text)
    except MalformedError:
        names = ", ".join(one.name for one in asked.fields) or "none"
        message = f"The server asks for values, not for a text. Its fields: {names}."
        raise deny("invalid_arguments", message) from None
    except InvalidArgumentsError as error:
        raise CallDenied(mismatch(error)) from None


class Decisions:
    """The decisions that a person may take on pending calls."""

    def __init__(
        self,
        confirmations: ConfirmationFlow,
        recorder: Recorder,
        tools: CompiledTools,
        pipeline: Pipeline,
    ) -> None:
        self._confirmations = confirmations
        self._recorder = recorder
        self._tools = tools
        self._pipeline = pipeline

    async def confirm(  # noqa: PLR0913 - a person's decision and its run, by keyword
        self,
        confirmation_id: str,
        *,
        edit: Mapping[str, Any] | None = None,
        user: str | None = None,
        by: str | None = None,
        key: str | None = None,
        on_event: EventListener | None = None,
        declines: bool = False,
    ) -> Result:
        """Approve a pending call, with edited arguments or as it is, and run it.

        For a server's question `edit` has the values, and `declines` rejects the question. `by`
        is the person's name for the audit, and `key` the idempotency key where a runtime made
        one. Never raises but for cancellation.
        """
        began = perf_counter()
        decision = Decided(str(confirmation_id), by)
        approved: ApprovedCall | None = None
        call = Call(str(confirmation_id), {})
        try:
            confirmation = await self._confirmations.find(confirmation_id, user)
            call = confirmation.call
            await self._confirmations.check_decision(confirmation, user)
            call = await self._pipeline.with_crisis_flag(call)
            confirmation = confirmation._replace(call=call)
            _check_run(call, key)
            if call.asked is None:
                decided = await self._confirmations.resume(confirmation, edit, key)
            else:
                decided = await self._answer(confirmation, None if declines else edit or {})
            call = decided.call
            if isinstance(decided, ApprovedCall):
                approved = decided
                result = await self._ran(decided, began, on_event, decision)
            else:
                result = await self._stopped(decided, began, decision)
            result = result._replace(notes=(*decided.notes, *result.notes))
        except Exception as error:  # noqa: BLE001 - any exception in a check denies
            result = await self._pipeline.denied(call, error, began, decision)
        if approved is not None:
            try:
                await self._confirmations.end(confirmation_id, edited=approved.edited)
            except Exception as error:  # noqa: BLE001 - the call has run: too late to deny it
                logged(error, "the end of the approved call %s was not recorded", confirmation_id)
        return self._pipeline.finish(call, result)

    async def _answer(
        self, confirmation: Confirmation, given: Mapping[str, Any] | None
    ) -> ApprovedCall | Stopped:
        """Answer what a server asks for; None declines it. Raises CallDenied."""
        tool = await self._tools.find(confirmation.call)
        return await answer(self._confirmations, tool, confirmation, given)

    async def _ran(
        self,
        approved: ApprovedCall,
        began: float,
        on_event: EventListener | None,
        decision: Decided,
    ) -> Result:
        """Run an approved call; its server may ask for input. Raises CallDenied."""
        call, arguments = approved.call, approved.arguments
        tool = await self._tools.find(call)
        try:
            return await self._pipeline.run(
                tool, call, arguments, began, on_event, decision, again=approved.again
            )
        except InputRequiredError as error:
            return await self._pipeline.ask(tool, call, arguments, error.asked, began)

    async def _stopped(self, decided: Stopped, began: float, decision: Decided) -> Result:
        """Record that a call waits again, and return its Result. Raises CallDenied."""
        call, waits = decided.call, decided.confirmation
        tool = await self._tools.find(call)
        await self._recorder.waits(
            call, tool, decided.arguments, decided.verdict, waits.id,
            instead_of=decision,
        )  # fmt: skip
        stop = stale if decided.stale else stopped
        return stop(call, waits, decided.verdict, began)

    async def confirm_call(
        self,
        confirmation_id: str,
        call: Call,
        on_event: EventListener | None = None,
        by: str | None = None,
    ) -> Result:
        """Approve a pending call with the arguments of `call`, as a run's question was answered.

        Who may decide a review is checked where the run's question is answered.
        """
        confirmation = await self._confirmations.get(confirmation_id)
        given = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
        before = confirmation.call.arguments if confirmation is not None else {}
        assert isinstance(before, dict)
        # As JSON text, where true is not 1.
        edit = {
            name: value
            for name, value in given.items()
            if name not in before or _text(before[name]) != _text(value)
        }
        if confirmation is not None and confirmation.call.asked is not None:
            edit = given
        reviewed = (
            confirmation is not None
            and confirmation.kind == "review"
            and confirmation.call.key == call.key
        )
        user = None if reviewed else call.caller.user
        return await self.confirm(
            confirmation_id, edit=edit, user=user, by=by, key=call.key, on_event=on_event
        )

    async def reject(
        self, confirmation_id: str, *, user: str | None = None, by: str | None = None
    ) -> Result:
        """Reject a pending call: it never runs. A server's question is declined."""

        def no(_call: Call) -> Result:
            message = "The user said no: do not call it again with the same arguments."
            raise deny("rejected", message)

        decision = Decided(str(confirmation_id), by)
        return await self._decide(decision, user, "rejected", no, lambda _: None)

    async def respond(
        self, confirmation_id: str, text: str, *, user: str | None = None, by: str | None = None
    ) -> Result:
        """Answer a pending call in place of the tool: it never runs, and `text` is its result.

        The text answers a server's question that has one field, or is the JSON of its fields.
        """
        return await self._decide(
            Decided(str(confirmation_id), by), user, "answered",
            lambda call: answered(call, text), lambda asked: values_of(asked, text),
        )  # fmt: skip

    def pending(self, user: str | None = None) -> tuple[Confirmation, ...]:
        """Return the pending calls of one user or of all, oldest first."""
        return tuple(self._confirmations.pending(user))

    def each_pending(
        self, user: str | None, after: tuple[float, str] | None
    ) -> Iterator[Confirmation]:
        """Yield the pending calls after one, which is given by its `created` and its id."""
        return self._confirmations.pending(user, after)

    async def read(self, confirmation_id: str) -> Confirmation | None:
        """Return a confirmation; raises UnreachableError where the store can't be read."""
        return await self._confirmations.read(confirmation_id)

    async def confirmation(self, confirmation_id: str) -> Confirmation | None:
        """Return a confirmation, decided or not; None where it can't be read."""
        return await self._confirmations.get(confirmation_id)

    async def _decide(
        self,
        decision: Decided,
        user: str | None,
        state: ConfirmationState,
        answer: Callable[[Call], Result],
        values: Callable[[Asked], Mapping[str, Any] | None],
    ) -> Result:
        """Apply a decision by which the call never runs; answer a server's question by `values`."""
        began = perf_counter()
        confirmation_id = decision.confirmation
        call = Call(confirmation_id, {})
        try:
            confirmation = await self._confirmations.find(confirmation_id, user)
            call = confirmation.call
            if call.asked is not None:
                given = values(call.asked)
                return await self.confirm(
                    confirmation_id, edit=given, user=user, by=decision.by, declines=given is None
                )
            drops = state == "rejected"
            await self._confirmations.check_decision(confirmation, user, drops=drops)
            await self._confirmations.claim(confirmation, state)
            result = answer(call)
            await self._recorder.decided(call, await self._tools.find(call), state, decision)
        except Exception as error:  # noqa: BLE001 - as above
            result = await self._pipeline.denied(call, error, began, decision)
        return self._pipeline.finish(call, result)


def _check_run(call: Call, key: str | None) -> None:
    """Raise CallDenied for a call of a run, which would run it a second time under its own key."""
    if call.is_of_a_run and key != call.key:
        message = f"A run waits for this call: it is decided there ({call.id})."
        raise deny("confirmation_not_found", message)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
