"""What people decide on held calls: each approved, refused or answered, once."""

import json
from collections.abc import Callable, Coroutine, Mapping
from time import perf_counter
from typing import Any, Protocol

from toolmd._call.audit.recorder import Recorder
from toolmd._call.confirm.desk import Desk, Redeemed
from toolmd._call.ready import ReadyTool, ReadyTools
from toolmd._call.refusal import refuse
from toolmd._call.result.outcome import answered, held_back, stale
from toolmd._model.call import Call
from toolmd._model.held import HeldCall, HeldState
from toolmd._model.result import EventListener, Result


class RestOfLadder(Protocol):
    """What is left of the ladder for a call that was held."""

    def run(
        self,
        tool: ReadyTool,
        call: Call,
        arguments: dict[str, Any],
        began: float,
        on_event: EventListener | None,
        held_id: str | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Rows 8 and 9: wait for a turn, record the decision, and run."""

    def denied(
        self, call: Call, error: Exception, began: float, held_id: str | None = None
    ) -> Coroutine[Any, Any, Result]:
        """Give the Result of a call that a row refused, or at which one broke."""

    def last_words(self, call: Call, result: Result) -> Result:
        """Add to a result what rides on every outcome."""


class Decisions:
    """What a person may do with the calls that are held."""

    def __init__(
        self, desk: Desk, recorder: Recorder, tools: ReadyTools, ladder: RestOfLadder
    ) -> None:
        self._desk = desk
        self._recorder = recorder
        self._tools = tools
        self._ladder = ladder

    async def confirm(
        self,
        held_id: str,
        *,
        edit: Mapping[str, Any] | None = None,
        user: str | None = None,
        key: str | None = None,
        on_event: EventListener | None = None,
    ) -> Result:
        """Approve a held call, with some arguments edited or as it is, and run it.

        `key` is the idempotency key where a runtime made one. Never raises but for cancellation.
        """
        began = perf_counter()
        call = Call(str(held_id), {})
        try:
            held = await self._desk.find(held_id, user)
            call = held.call
            await self._desk.admit(held, user)
            if call.is_of_a_run and key != call.key:
                # Its run would do it once more, under its own key.
                message = f"A run waits for this call: it is decided there ({call.id})."
                raise refuse("confirmation_not_found", message)  # noqa: TRY301 - a row like others
            decided = await self._desk.redeem(held, edit, key)
            call = decided.call
            tool = self._tools.find(call)
            if isinstance(decided, Redeemed):
                result = await self._ladder.run(
                    tool, call, decided.arguments, began, on_event, held_id
                )
            else:
                await self._recorder.held(call, tool, decided.arguments, decided.verdict,
                                          decided.held.id, instead_of=held_id)  # fmt: skip
                answer = stale if decided.stale else held_back
                result = answer(call, decided.held, decided.verdict, began)
            result = result._replace(notes=(*decided.notes, *result.notes))
        except Exception as error:  # noqa: BLE001 - whatever breaks on the ladder refuses
            result = await self._ladder.denied(call, error, began, held_id)
        return self._ladder.last_words(call, result)

    async def confirm_call(self, held_id: str, call: Call) -> Result:
        """Approve a held call with the arguments of `call`, as a run's person agreed to them.

        Whose word a review takes is asked where the run is answered.
        """
        held = await self._desk.look(held_id)
        given = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
        before = held.call.arguments if held is not None else {}
        assert isinstance(before, dict)
        # As JSON text, where true is not 1.
        edit = {
            name: value
            for name, value in given.items()
            if name not in before or _text(before[name]) != _text(value)
        }
        reviewed = held is not None and held.kind == "review" and held.call.key == call.key
        user = None if reviewed else call.caller.user
        return await self.confirm(held_id, edit=edit, user=user, key=call.key)

    async def reject(self, held_id: str, *, user: str | None = None) -> Result:
        """Refuse a held call: it never runs."""

        def no(_call: Call) -> Result:
            message = "The user said no: do not call it again with the same arguments."
            raise refuse("rejected", message)

        return await self._decide(held_id, user, "rejected", no, drops=True)

    async def respond(self, held_id: str, text: str, *, user: str | None = None) -> Result:
        """Answer a held call in the tool's stead: it never runs, and `text` is its result."""
        return await self._decide(held_id, user, "responded", lambda call: answered(call, text))

    def pending(self, user: str | None = None) -> tuple[HeldCall, ...]:
        """Give the held calls that wait, the oldest first; of one user, or of all."""
        return self._desk.pending(user)

    async def held(self, held_id: str) -> HeldCall | None:
        """Give a call that is held, or was; None where it can't be read."""
        return await self._desk.look(held_id)

    def held_sync(self, held_id: str) -> HeldCall | None:
        """Do as `held`, for those who can't await; the calling thread waits."""
        return self._desk.look_sync(held_id)

    async def _decide(
        self,
        held_id: str,
        user: str | None,
        state: HeldState,
        answer: Callable[[Call], Result],
        *,
        drops: bool = False,
    ) -> Result:
        began = perf_counter()
        call = Call(str(held_id), {})
        try:
            held = await self._desk.find(held_id, user)
            call = held.call
            await self._desk.admit(held, user, drops=drops)
            await self._desk.claim(held, state)
            result = answer(call)
            await self._recorder.decided(call, self._tools.find(call), state, held_id)
        except Exception as error:  # noqa: BLE001 - as above
            result = await self._ladder.denied(call, error, began, held_id)
        return self._ladder.last_words(call, result)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
