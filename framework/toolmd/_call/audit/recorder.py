"""Record the decision on each call in the audit, before its effect."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from toolmd._call.compiled import CompiledTool
from toolmd._call.denial import CallDenied, Explained, guard_failed
from toolmd._types.call import Call
from toolmd._types.confirmation import Decided
from toolmd._types.verdict import Verdict
from toolmd.errors import hidden, hidden_values, logged

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
        self._second: float | None = None
        self._date = ""
        """The text of that second."""
        self.keeps = log is not None
        """Whether there is an audit."""

    def runs(
        self,
        call: Call,
        tool: CompiledTool,
        arguments: Mapping[str, Any],
        decided: Decided | None = None,
    ) -> Coroutine[Any, Any, bool]:
        """Record that a call runs now. Raises CallDenied where the record can't be written.

        `decided` is the approval by a person. Returns whether it waited for the disk.
        """
        approved = "" if decided is None else _fields(decided._asdict())
        return self._write(call, tool, "run", arguments, approved)

    async def waits(
        self,
        call: Call,
        tool: CompiledTool,
        arguments: Mapping[str, Any],
        verdict: Verdict,
        confirmation_id: str,
        *,
        instead_of: Decided | None = None,
    ) -> None:
        """Record that a call waits. Raises CallDenied where the record can't be written.

        `instead_of` is the decision after which the call waits again, or names the confirmations
        that this one corrects.
        """
        if self._log is not None and not call.dry_run:
            decision = verdict.action.name.lower()
            more: dict[str, str | None] = {
                "code": verdict.code, "reason": verdict.message, "confirmation": confirmation_id,
            }  # fmt: skip
            if instead_of is not None:
                more |= {"instead_of": instead_of.confirmation, "by": instead_of.by}
            await self._write(call, tool, decision, arguments, _fields(more))

    async def decided(self, call: Call, tool: CompiledTool, state: str, decided: Decided) -> None:
        """Record a person's decision on a pending call. Raises CallDenied."""
        if self._log is not None:
            arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
            await self._write(call, tool, state, arguments, _fields(decided._asdict()))

    async def denied(
        self,
        call: Call,
        tool: CompiledTool | None,
        denial: CallDenied,
        decided: Decided | None = None,
    ) -> None:
        """Record a denial; the call stays denied where the record can't be written."""
        if self._log is None or call.dry_run:
            return
        failure, code = denial.unread, denial.unread.code
        try:
            if isinstance(failure, Explained):
                faults = [[code, _word(name)] for name in failure.names()[:_MAX_FAULTS]]
                text = f',"code":"{code}","faults":{_json(faults)}'
            else:
                faults = [[_word(f.code), _word(f.path)] for f in failure.details[:_MAX_FAULTS]]
                text = (
                    _fields({"code": code, "reason": failure.message})
                    + f',"faults":{_json(faults)}'
                )
            if decided is not None:
                text += _fields(decided._asdict())
            head = f'"tool":{_json(call.tool[:64])}' if tool is None else tool.audit_head
            await self._append(f'"decision":"deny",{head}{_of_call(call)}{text}')
        except Exception as error:  # noqa: BLE001 - it is denied in any case
            if code != "internal_guard_error":
                logged(error, "the denial of %s was not recorded", call.tool)

    async def _write(
        self,
        call: Call,
        tool: CompiledTool,
        decision: str,
        arguments: Mapping[str, Any],
        more: str,
    ) -> bool:
        try:
            invoker = tool.invoker
            if not invoker.implementation_hash:
                await invoker.prepare()
            return await self._append(
                f'"decision":"{decision}",{tool.audit_head}{_of_call(call)}{more},'
                f'"implementation":"{invoker.implementation_hash}",'
                f'"arguments":{_bounded(tool.redacted(arguments))}'
            )
        except Exception as error:  # noqa: BLE001 - a call without its record must not run
            raise guard_failed(call.tool, "audit", error) from None

    async def _append(self, fields: str) -> bool:
        """Append a record with these fields; return whether it waited for the disk."""
        log = self._log
        assert log is not None
        text = f'{{"at":"{self._at()}",{fields}}}'
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
        second = now // 1
        if second != self._second:
            self._date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return f"{self._date}.{int((now - second) * 1e6):06d}+00:00"


def _of_call(call: Call) -> str:
    """Return the fields of a call and its caller."""
    user, context, _, conversation, _ = call.caller
    text = f',"context":{_bounded(context)}' if context else ""
    if call.confidence is not None:
        text += f',"confidence":{_json(_word(call.confidence))}'
    if call.id is None and user is None and conversation is None:
        return text
    return text + _fields({"call": call.id, "user": user, "conversation": conversation})


def _fields(values: Mapping[str, object]) -> str:
    """Return each value that is there as a field; a model may have made them up."""
    text = ""
    for key, value in values.items():
        if value is not None:
            said = _word(hidden(str(value)), _MAX_REASON) if key == "reason" else _word(value)
            text += f',"{key}":{_json(said)}'
    return text


def _word(value: Any, most: int = _MAX_WORD) -> Any:
    """Return a number, or a text cut to its first characters; a model may have made it up."""
    if type(value) in _NUMBERS and abs(value) < _MAX_NUMBER:
        return value
    text = value if isinstance(value, str) else _shown(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _bounded(value: Mapping[str, Any]) -> str:
    """Return an object as JSON, or its hash and size where it is large."""
    text = _json(hidden_values(value if isinstance(value, dict) else dict(value)))
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
