"""The one door: every call, whoever makes it, comes down this ladder (behaviour.md)."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from difflib import get_close_matches
from time import perf_counter
from typing import Any

from toolmark._call.context import Listener, Resources, open_client
from toolmark._call.misfit import read
from toolmark._call.plain import PlainRun
from toolmark._call.ready import ReadyTool
from toolmark._call.refusal import Refusal, guard_failed, refuse
from toolmark._model.call import Budget, Call, Caller
from toolmark._model.registry import Registry
from toolmark._model.result import Result
from toolmark._model.settings import Settings
from toolmark._model.skill import SkillSpec
from toolmark._model.tool import ToolSpec

MAX_CALL_DEPTH = 16
"""How many calls may stand around one: tools that call tools must come to an end."""

# A call is made for each call: its fields in order, without naming defaults.
_make = tuple.__new__


class Door:
    """Takes the calls of one snapshot."""

    def __init__(
        self, registry: Registry, settings: Settings, *, resources: Resources | None = None
    ) -> None:
        self.registry = registry
        self.settings = settings
        self.resources = resources
        self._quick: dict[str, PlainRun] = {}
        self._ready: dict[str, ReadyTool] = {}

    def call(  # noqa: PLR0913 - the face of a call, by keyword
        self,
        name: str,
        arguments: Mapping[str, Any] | str | bytes,
        *,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        call_id: str | None = None,
        dry_run: bool = False,
        budget: Budget | None = None,
        idempotency_key: str | None = None,
        on_event: Listener | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Call a tool with an object or its JSON text; never raises but for cancellation."""
        quick = self._quick.get(name)
        if (
            quick is not None
            and type(arguments) is str
            and not (dry_run or confidence is not None or budget or on_event)
        ):
            return quick(call_id, arguments, None, user, patient)
        caller = Caller(user, patient, message)
        call = _make(Call, (name, arguments, call_id, confidence, caller, dry_run, budget,
                            idempotency_key, 0))  # fmt: skip
        return self.take(call, on_event)

    def open_client(self, spec: ToolSpec | SkillSpec, seconds: float) -> Any:
        """Make the HTTP client of one call, which has so many seconds."""
        return open_client(spec, seconds)

    async def call_many(self, calls: Sequence[Call]) -> tuple[Result, ...]:
        """Take independent calls at once; results in their order, none hinders another."""
        return tuple(await asyncio.gather(*(self.take(call) for call in calls)))

    async def take(self, call: Call, on_event: Listener | None = None) -> Result:
        """Take a call down the ladder; the first row that does not pass gives the answer."""
        began = perf_counter()
        try:
            if call.confidence is not None or call.depth:
                _check(call)  # row 1
            tool = self._ready.get(call.tool) or self._known(call)  # row 2
            if tool.needs_caller:
                tool.admit(call)  # row 2a
            arguments = tool.arguments(call)  # rows 1 and 3, one pass over the text
        except Refusal as refusal:
            return _denied(call, refusal, began)
        if call.dry_run:
            result = _allowed(call, began)
        else:
            result = await tool.executor.run(call, arguments, began, on_event)  # row 9
            if tool.executor.plain is not None and tool.is_plain:
                self._quick[call.tool] = tool.executor.plain
        return _told(result, tool.dropped(call.arguments)) if tool.ignores_unknown else result

    def _known(self, call: Call) -> ReadyTool:
        name = call.tool
        bound = self.registry.tools.get(name)
        if bound is None:
            read(call)
            near = get_close_matches(name[:64], self.registry.tools, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "it is not in this project."
            raise refuse("unknown_tool", f"There is no tool {name[:64]!r}; {hint}")
        try:
            ready = ReadyTool(bound, self)
        except Exception as error:  # noqa: BLE001 - a restriction that can't be read closes the door
            raise guard_failed(name, "policy", error) from None
        self._ready[name] = ready
        return ready


def _check(call: Call) -> None:
    if call.confidence is not None and not _is_confidence(call.confidence):
        raise refuse("malformed_call", "confidence must be a number from 0 to 1")
    if call.depth > MAX_CALL_DEPTH:
        raise refuse("malformed_call", f"more than {MAX_CALL_DEPTH} tools call one another")


def _is_confidence(confidence: Any) -> bool:
    return type(confidence) in (int, float) and 0 <= confidence <= 1


def _denied(call: Call, refusal: Refusal, began: float) -> Result:
    return Result(
        success=False,
        tool=call.tool,
        outcome="denied",
        error=refusal.failure,  # type: ignore[arg-type]  # worked out when someone looks
        tool_call_id=call.id,
        duration_ms=(perf_counter() - began) * 1000,
    )


def _allowed(call: Call, began: float) -> Result:
    ms = (perf_counter() - began) * 1000
    return Result(
        success=True, tool=call.tool, outcome="allowed", tool_call_id=call.id, duration_ms=ms
    )


def _told(result: Result, dropped: tuple[str, ...]) -> Result:
    if not dropped:
        return result
    note = f"Ignored, because the tool does not know them: {', '.join(dropped)}."
    return result._replace(notes=(*result.notes, note))
