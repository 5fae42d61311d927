"""Run the call of a keyed tool once under its key, over all processes of a project."""

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any

from toolmd._call.denial import guard_failed
from toolmd._call.threads import AROUND
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.result import Failure, Result
from toolmd._types.schema import plain_numbers
from toolmd._types.stored import KeyedCall
from toolmd.errors import logged

REPEATED = "The same call was made before: this is its result, and the tool did not run again."
HIDDEN_DATA = "Its data is Sensitive, and so was not recorded."
POLL_S = 0.05
"""The first pause between two looks at a call that runs elsewhere, in seconds; it doubles."""
_LONGEST_POLL_S = 0.5
_SPARE_S = 10.0
"""How much longer than its waits and its Timeout a call may take, in seconds."""


def key_with(key: str, arguments: Mapping[str, Any]) -> str:
    """Return the key of a named call with its checked arguments: equal calls have equal keys.

    Defaults are filled, ignored arguments are dropped, and 2.0 is 2.
    """
    text = json.dumps(plain_numbers(dict(arguments)), sort_keys=True)
    return hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()[:32]


class KeyedCalls:
    """The calls of a dispatcher that have an idempotency key and a tool that is keyed."""

    def __init__(self, store: Store) -> None:
        """Keep the store, which is opened with the first such call."""
        self._store = store

    async def once(
        self,
        call: Call,
        tool: ToolCallSpec,
        seconds: float,
        began: float,
        run: Callable[[], Awaitable[Result]],
    ) -> Result:
        """Run a call, or return the result of the same call that was made before.

        `seconds` is the time of one run. Raises CallDenied where the store can't be used.
        """
        key = call.key
        assert key is not None
        # It waits for its turn as long as it may run.
        before = await self._begin(call.tool, key, 2 * seconds + _SPARE_S, seconds)
        if before is not None:
            ms = (perf_counter() - began) * 1000
            return _repeat(call, before)._replace(duration_ms=ms)
        try:
            result = await run()
        except Exception:
            # A check denied it, so nothing ran. What can't be forgotten stays unknown.
            with suppress(Exception):
                await AROUND.run(lambda: self._store.keyed_calls.forget(key))
            raise
        try:
            await AROUND.run(lambda: self._keep(key, result, tool))
        except Exception as error:  # noqa: BLE001 - the call has run: a repeated one is unknown
            logged(error, "the result of %s was not recorded under its key", call.tool)
        return result

    async def _begin(self, name: str, key: str, most: float, wait: float) -> KeyedCall | None:
        """Begin a call, or wait for the one that began before: for its result or its time."""
        until, pause = time.monotonic() + wait, POLL_S
        while True:
            try:
                before: KeyedCall | None
                before = await AROUND.run(lambda: self._store.keyed_calls.begin(key, most))
            except Exception as error:  # noqa: BLE001 - a second effect can't be excluded
                raise guard_failed(name, "idempotency key", error) from None
            is_over = before is None or before.result is not None or before.left <= 0
            if is_over or time.monotonic() >= until:
                return before
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_POLL_S)

    def _keep(self, key: str, result: Result, tool: ToolCallSpec) -> None:
        calls = self._store.keyed_calls
        if result.outcome == "ok":
            calls.finish(key, _to_json(result, tool))
        elif result.outcome == "unknown":
            calls.give_up(key)
        else:
            # It failed or was denied: the same key serves for another try.
            calls.forget(key)


def record(store: Store, name: str, result: Result, tool: ToolCallSpec) -> None:
    """Store the result of a decided call under the id of its confirmation."""
    store.keyed_calls.record(f"confirmation {name}", _to_json(result, tool))


def find_record(store: Store, name: str, call: Call) -> Result | None:
    """Return the result that was stored for a decided call; None where there is none."""
    text = store.keyed_calls.get(f"confirmation {name}")
    return None if text is None else _from_json(text, call)


def _repeat(call: Call, before: KeyedCall) -> Result:
    if before.result is not None:
        return _from_json(before.result, call)
    message = (
        f"{call.tool} began under this call's id before, and nobody knows how it ended. "
        f"It may have taken effect all the same: look before calling it with another id."
    )
    return Result(
        success=False, tool=call.tool, outcome="unknown", tool_call_id=call.id,
        error=Failure("outcome_unknown", message),
    )  # fmt: skip


_FIELDS = ("success", "outcome", "message", "data", "truncated", "notes", "source", "api_offline")


def _to_json(result: Result, tool: ToolCallSpec) -> str:
    fields: dict[str, Any] = {name: getattr(result, name) for name in _FIELDS}
    if tool.returns.holds_sensitive:
        fields |= {"message": "", "data": None, "source": None, "notes": [HIDDEN_DATA]}
    error = result.error and (result.error.code, result.error.message)
    return json.dumps({**fields, "error": error})


def _from_json(text: str, call: Call) -> Result:
    fields = json.loads(text)
    error, notes = fields.pop("error"), (*fields.pop("notes"), REPEATED)
    failure = None if error is None else Failure(*error)
    return Result(tool=call.tool, tool_call_id=call.id, notes=notes, error=failure, **fields)
