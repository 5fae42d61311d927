"""Record the decision on each call in the audit, before its effect."""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from toolmd._call.compiled import CompiledTool
from toolmd._call.denial import CallDenied, guard_failed
from toolmd._call.threads import AROUND
from toolmd._types.call import Call
from toolmd._types.confirmation import By, Confirmation
from toolmd._validation import is_large
from toolmd._validation.redact import redacted
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
_LARGE = ("context", "arguments")
"""The fields that may be large."""


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

    async def write(
        self,
        decision: str,
        call: Call,
        tool: CompiledTool,
        arguments: Any,
        more: Mapping[str, str | None] | None = None,
    ) -> bool:
        """Record a decision on a call, such as `run`, before its effect; with `more` fields.

        Returns whether it waited for the disk. Raises CallDenied where the record can't be written.

        Args:
            decision: The decision; `reader.DecisionKind` lists all.
            call: The call.
            tool: Its tool.
            arguments: Its validated arguments.
            more: Further fields of the record.
        """
        if self._log is None:
            return False
        try:
            invoker = tool.invoker
            if not invoker.implementation_hash:
                await invoker.prepare()
            if tool.holds_sensitive:
                arguments = redacted(arguments, tool.call_spec.parameters)
            fields = _fields(call)
            if more is not None:
                fields |= _words(more)
            fields["implementation"] = invoker.implementation_hash
            fields["arguments"] = hidden_values({**arguments})
            large = is_large(call.arguments)
            return await self._append(decision, tool.audit_head, fields, large=large)
        except Exception as error:  # noqa: BLE001 - a call without its record must not run
            raise guard_failed(call.tool, "audit", error) from None

    async def waits(self, one: Confirmation, tool: CompiledTool, by: By | None) -> None:
        """Record that a call waits. Raises CallDenied where the record can't be written.

        `by` is the decision after which the call waits again, or names what it corrects.
        """
        decided = {} if by is None else {**by, "instead_of": by["confirmation"]}
        more = {**decided, "code": one.code, "reason": one.reason, "confirmation": one.id}
        await self.write(one.kind, one.call, tool, one.call.arguments, more)

    async def denied(
        self,
        call: Call,
        tool: CompiledTool | None,
        denial: CallDenied,
        by: By | None = None,
    ) -> None:
        """Record a denial; the call stays denied where the record can't be written."""
        if self._log is None or call.dry_run:
            return
        failure, code = denial.failure, denial.failure.code
        try:
            named = f'"tool":{_json(call.tool[:64])}' if tool is None else tool.audit_head
            fields = _fields(call) | _words({"code": code})
            faults = [(fault.code, fault.path) for fault in failure.details]
            if code == "invalid_arguments":  # Its message quotes values, and its paths keys.
                names = (re.split(r"[.\[]", path, maxsplit=1)[0] for _, path in faults)
                faults = [(code, name) for name in dict.fromkeys(names)]
            else:
                fields |= _words({"reason": failure.message})
            fields["faults"] = [[*map(_word, fault)] for fault in faults[:_MAX_FAULTS]]
            if by is not None:
                fields |= _words(by)
            await self._append("deny", named, fields)
        except Exception as error:  # noqa: BLE001 - it is denied in any case
            if code != "internal_guard_error":
                logged(error, "the denial of %s was not recorded", call.tool)

    async def _append(
        self, decision: str, tool: str, fields: dict[str, Any], *, large: bool = False
    ) -> bool:
        """Append a record, of `large` arguments with a thread; return whether it waited."""
        log = self._log
        assert log is not None
        now = self._clock()
        second = now // 1
        if second != self._second:
            self._date = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        # As many digits for each record.
        at = f"{self._date}.{int((now - second) * 1e6):06d}+00:00"
        text = await AROUND.run(lambda: _bounded_json(fields)) if large else _json(fields)
        if len(text) > MAX_VALUE:
            text = _bounded_json(fields)
        record = f'{{"at":"{at}","decision":"{decision}",{tool},{text[1:]}'
        if not log.append(record):
            await asyncio.to_thread(log.open)
            if not log.append(record):
                raise OSError("the audit's file was removed or changed while it was opened")
        if log.synced:
            await asyncio.wrap_future(log.sync())
        return log.synced or large


def _fields(call: Call) -> dict[str, Any]:
    """Return the fields of a call and its caller."""
    fields: dict[str, Any] = {}
    user, context, _, conversation, *_, via = call.caller
    if context:
        fields["context"] = hidden_values({**context})
    if call.confidence is not None:
        fields["confidence"] = _word(call.confidence)
    if call.id is not None or user is not None or conversation is not None:
        words = {"call": call.id, "user": user, "via": via, "conversation": conversation}
        fields |= _words(words)
    return fields


def _words(values: Mapping[str, object]) -> dict[str, Any]:
    """Return the values that are there, cut; a model may have made them up."""
    return {
        key: _word(hidden(str(value)), _MAX_REASON) if key == "reason" else _word(value)
        for key, value in values.items()
        if value is not None
    }


def _word(value: Any, most: int = _MAX_WORD) -> Any:
    """Return a number, or a text cut to its first characters; a model may have made it up."""
    if type(value) in _NUMBERS and abs(value) < _MAX_NUMBER:
        return value
    text = value if isinstance(value, str) else _shown(value)
    return text if len(text) <= most else f"{text[:most]}…"


def _bounded_json(fields: dict[str, Any]) -> str:
    """Return the fields as JSON, in which each large one is its hash."""
    return _json(fields | {key: _bounded(fields[key]) for key in _LARGE if key in fields})


def _bounded(value: Any) -> Any:
    """Return an object, or its hash and size where its JSON is large."""
    text = _json(value)
    if len(text) <= MAX_VALUE:
        return value
    data = text.encode()
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


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
