"""The half of the door that people stand behind: held calls approved, refused, answered."""

import json
from collections.abc import Callable, Coroutine, Mapping
from time import perf_counter
from typing import Any

from toolmark._call.audit.recorder import Recorder
from toolmark._call.confirm.desk import Desk, Redeemed
from toolmark._call.invoke.context import Listener
from toolmark._call.ready import ReadyTool
from toolmark._call.refusal import Refusal, guard_failed, refuse
from toolmark._call.result.outcome import answered, denied, held_back, stale
from toolmark._model.call import Call
from toolmark._model.held import HeldCall
from toolmark._model.result import Result


class Decisions:
    """What a person may do with held calls; the rest of the door runs and records them."""

    _desk: Desk
    _recorder: Recorder
    _ready: dict[str, ReadyTool]
    _known: Callable[[Call], ReadyTool]
    _in_turn: Callable[..., Coroutine[Any, Any, Result]]
    last_words: Callable[[Call, Result], Result]

    async def confirm(
        self,
        held_id: str,
        *,
        edit: Mapping[str, Any] | None = None,
        user: str | None = None,
        key: str | None = None,
        on_event: Listener | None = None,
    ) -> Result:
        """Approve a held call, with some arguments edited or as it is, and run it.

        `key` is the idempotency key where a runtime made one. Never raises but for cancellation.
        """
        began = perf_counter()
        call = Call(held_id, {})
        try:
            held = self._desk.find(held_id, user)
            call = held.call
            if call.is_of_a_run and key != call.key:
                # Its run would do it once more, under its own key.
                message = f"A run waits for this call: it is decided there ({call.id})."
                raise refuse("confirmation_not_found", message)  # noqa: TRY301 - a row like others
            decided = await self._desk.redeem(held, edit, key)
            call = decided.call
            tool = self._known(call)
            if isinstance(decided, Redeemed):
                result = await self._in_turn(
                    tool, call, decided.arguments, began, on_event, held_id
                )
                result = result._replace(notes=(*decided.notes, *result.notes))
            else:
                self._recorder.held(call, tool, decided.arguments, decided.verdict,
                                    decided.held.id, instead_of=held_id)  # fmt: skip
                answer = stale if decided.stale else held_back
                result = answer(call, decided.held, decided.verdict, began)
        except Exception as error:  # noqa: BLE001 - whatever breaks on the ladder refuses
            result = self._denied(call, error, began, held_id)
        return self.last_words(call, result)

    async def confirm_call(self, held_id: str, call: Call) -> Result:
        """Approve a held call with the arguments of `call`, as a run's person agreed to them."""
        held = self._desk.look(held_id)
        given = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
        before = held.call.arguments if held is not None else {}
        assert isinstance(before, dict)
        # As JSON text, where true is not 1.
        edit = {
            name: value
            for name, value in given.items()
            if name not in before or _text(before[name]) != _text(value)
        }
        return await self.confirm(held_id, edit=edit, user=call.caller.user, key=call.key)

    def reject(self, held_id: str, *, user: str | None = None) -> Result:
        """Refuse a held call: it never runs."""
        message = "The user said no: do not call it again with the same arguments."
        return self._decide(
            held_id, user, "rejected", lambda _: refuse("rejected", message), drops=True
        )

    def respond(self, held_id: str, text: str, *, user: str | None = None) -> Result:
        """Answer a held call in the tool's stead: it never runs, and `text` is its result."""
        return self._decide(held_id, user, "responded", lambda call: answered(call, text))

    def pending(self, user: str | None = None) -> tuple[HeldCall, ...]:
        """Give the held calls that wait, the oldest first; of one user, or of all."""
        return self._desk.pending(user)

    def held(self, held_id: str) -> HeldCall | None:
        """Give a call that is held, or was."""
        return self._desk.look(held_id)

    def _decide(
        self,
        held_id: str,
        user: str | None,
        state: Any,
        make: Callable[[Call], Any],
        *,
        drops: bool = False,
    ) -> Result:
        began = perf_counter()
        call = Call(held_id, {})
        try:
            held = self._desk.find(held_id, user, drops=drops)
            call = held.call
            self._desk.decide(held, state)
            made = make(call)
            if isinstance(made, Refusal):
                return self.last_words(call, self._denied(call, made, began, held_id))
            self._recorder.decided(call, self._known(call), state, held_id)
        except Exception as error:  # noqa: BLE001 - as above
            made = self._denied(call, error, began, held_id)
        return self.last_words(call, made)

    def _denied(
        self, call: Call, error: Exception, began: float, held_id: str | None = None
    ) -> Result:
        """Give the Result of a call that a row refused, or at which one broke."""
        refusal = error if isinstance(error, Refusal) else guard_failed(call.tool, "gate", error)
        self._recorder.denied(call, self._ready.get(call.tool), refusal, held_id)
        return denied(call, refusal, began)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
