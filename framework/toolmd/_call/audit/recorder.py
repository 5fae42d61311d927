"""Record the decision on each call in the audit, before its effect."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from math import floor
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from toolmd._call.compiled import CompiledTool
from toolmd._call.denial import CallDenied, guard_failed
from toolmd._types.call import Call
from toolmd._types.verdict import Verdict
from toolmd.errors import logged

if TYPE_CHECKING:
    from toolmd._call.audit.log import AuditLog

MAX_VALUE = 8 * 1024
"""The characters of the largest arguments that a record contains; of larger ones the hash."""
_MAX_WORD = 256
_MAX_REASON = 2048
_MAX_FAULTS = 20
_MAX_NUMBER = 1e9
_NUMBERS = (int, float)


class Recorder:
    """The writer of the audit; without an audit it writes nothing."""

    def __init__(self, log: "AuditLog | None", clock: Callable[[], float]) -> None:
        """Keep the log; `clock` returns seconds since the epoch."""
        self._log = log
        self._clock = clock
        self._second: int | None = None
        self._date = ""
        """The text of that second."""
        self.keeps = log is not None
        """Whether there is an audit."""

    async def runs(
        self,
        call: Call,
        tool: CompiledTool,
        arguments: Mapping[str, Any],
        confirmation_id: str | None = None,
    ) -> bool:
        """Record that a call runs now. Raises CallDenied where the record can't be written.

        `confirmation_id` names the approved confirmation. Returns whether it waited for
        the disk.
        """
        if self._log is None:
            return False
        return await self._write(call, tool, "run", arguments=arguments, held=confirmation_id)

    async def waits(
        self,
        call: Call,
        tool: CompiledTool,
        arguments: Mapping[str, Any],
        verdict: Verdict,
        confirmation_id: str,
        *,
        instead_of: str | None = None,
    ) -> None:
        """Record that a call waits. Raises CallDenied where the record can't be written.

        `instead_of` names the confirmation whose call waits again, or those that this one corrects.
        """
        if self._log is not None and not call.dry_run:
            await self._write(call, tool, verdict.action.name.lower(), arguments=arguments,
                              code=verdict.code, reason=verdict.message, held=confirmation_id,
                              instead_of=instead_of)  # fmt: skip

    async def decided(
        self, call: Call, tool: CompiledTool, state: str, confirmation_id: str
    ) -> None:
        """Record a person's decision on a pending call. Raises CallDenied."""
        if self._log is not None:
            arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
            await self._write(call, tool, state, arguments=arguments, held=confirmation_id)

    async def denied(
        self,
        call: Call,
        tool: CompiledTool | None,
        denial: CallDenied,
        confirmation_id: str | None = None,
    ) -> None:
        """Record a denial; the call stays denied where the record can't be written."""
        if self._log is None or call.dry_run:
            return
        failure = denial.failure if not callable(denial.failure) else denial.failure()
        faults = [[_word(one.code), _word(one.path)] for one in failure.details[:_MAX_FAULTS]]
        try:
            await self._append(
                call,
                tool,
                "deny",
                code=failure.code,
                reason=failure.message,
                faults=faults,
                held=confirmation_id,
            )
        except Exception as error:  # noqa: BLE001 - it is denied in any case
            if failure.code != "internal_guard_error":
                logged(error, "the denial of %s was not recorded", call.tool)

    async def _write(self, call: Call, tool: CompiledTool, decision: str, **more: Any) -> bool:
        try:
            return await self._append(call, tool, decision, **more)
        except Exception as error:  # noqa: BLE001 - a call without its record must not run
            raise guard_failed(call.tool, "audit", error) from None

    async def _append(
        self,
        call: Call,
        tool: CompiledTool | None,
        decision: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        faults: list[list[Any]] | None = None,
        **more: Any,
    ) -> bool:
        log = self._log
        assert log is not None
        if tool is not None and arguments is not None:
            await tool.invoker.prepare()
        caller = call.caller
        text = f'{{"at":"{self._at()}","decision":"{decision}",{_head(call, tool)}'
        for key, value in (
            ("call", call.id),
            ("user", caller.user),
            ("conversation", caller.conversation),
            ("confidence", call.confidence),
            *more.items(),
        ):
            if value is not None:
                most = _MAX_REASON if key == "reason" else _MAX_WORD
                text += f',"{key}":{_json(_word(value, most))}'
        if faults is not None:
            text += f',"faults":{_json(faults)}'
        if caller.context:
            text += f',"context":{_bounded(caller.context)}'
        if tool is not None and arguments is not None:
            text += f',"implementation":"{tool.invoker.implementation_hash()}"'
            text += f',"arguments":{_bounded(tool.redacted(arguments))}'
        text += "}"
        if not log.append(text):
            await asyncio.to_thread(log.open)
            if not log.append(text):
                raise OSError("the audit's file was removed or changed while it was opened")
        if log.synced:
            await asyncio.wrap_future(log.sync())
        return log.synced

    def _at(self) -> str:
        """Return the time in UTC, with as many digits for each record."""
        now = self._clock()
        second = floor(now)
        if second != self._second:
            self._date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return f"{self._date}.{int((now - second) * 1e6):06d}+00:00"


def _head(call: Call, tool: CompiledTool | None) -> str:
    """Return what a record says of the tool; a model may have made up its name."""
    return f'"tool":{_json(call.tool[:64])}' if tool is None else tool.audit_head


def _word(value: Any, most: int = _MAX_WORD) -> Any:
    """Return a number, or a text cut to its first characters; a model may have made it up."""
    if type(value) in _NUMBERS and abs(value) < _MAX_NUMBER:
        return value
    text = value if isinstance(value, str) else _shown(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _bounded(value: Mapping[str, Any]) -> str:
    """Return an object as JSON, or its hash and size where it is large."""
    text = _json(value if isinstance(value, dict) else dict(value))
    if len(text) <= MAX_VALUE:
        return text
    data = text.encode()
    return f'{{"sha256":"{hashlib.sha256(data).hexdigest()}","bytes":{len(data)}}}'


def _json(value: Any) -> str:
    """Return a value as JSON; what is no JSON as text, as the record of a denial must not fail."""
    try:
        return to_json(value, fallback=_shown).decode()
    except ValueError:
        # Half of a pair of surrogates, which only an escape can write.
        return json.dumps(value, separators=(",", ":"), default=_shown)


def _shown(value: object) -> str:
    try:
        return repr(value)[:_MAX_WORD]
    except Exception:  # noqa: BLE001 - such as an int with more digits than Python writes
        return type(value).__name__
