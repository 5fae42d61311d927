"""Record the decision on each call in the audit, before its effect."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from toolmd._call.compiled import CompiledTool
from toolmd._call.denial import CallDenied, guard_failed
from toolmd._types.call import Call
from toolmd._types.verdict import Verdict
from toolmd._validation.redact import redacted
from toolmd.errors import logged

if TYPE_CHECKING:
    from toolmd._call.audit.chain import Audit
    from toolmd._call.lock_retry import LockRetry


class UnrecordedDenial(CallDenied):
    """The denial of a call whose decision could not be recorded."""


class Recorder:
    """The writer of the audit; without an audit it writes nothing."""

    def __init__(
        self, audit: "Audit | None", lock_retry: "LockRetry | None", clock: Callable[[], float]
    ) -> None:
        """Keep the audit; `lock_retry` is for a locked one, and None without an audit."""
        self._audit = audit
        self._lock_retry = lock_retry
        self._clock = clock
        self.keeps = audit is not None
        """Whether there is an audit."""

    async def runs(
        self,
        call: Call,
        tool: CompiledTool,
        arguments: Mapping[str, Any],
        confirmation_id: str | None = None,
    ) -> bool:
        """Record that a call runs now. Raises CallDenied where the record can't be written.

        `confirmation_id` names the approved confirmation. Returns whether it had to wait.
        """
        if self._audit is None:
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
        if self._audit is not None and not call.dry_run:
            await self._write(call, tool, verdict.action.name.lower(), arguments=arguments,
                              code=verdict.code, reason=verdict.message, held=confirmation_id,
                              instead_of=instead_of)  # fmt: skip

    async def decided(
        self, call: Call, tool: CompiledTool, state: str, confirmation_id: str
    ) -> None:
        """Record a person's decision on a pending call. Raises CallDenied."""
        if self._audit is not None:
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
        if self._audit is None or call.dry_run:
            return
        failure = denial.failure if not callable(denial.failure) else denial.failure()
        faults = [[problem.code, problem.path] for problem in failure.details]
        # A lock that was waited for once is not waited for again.
        waits = not isinstance(denial, UnrecordedDenial)
        try:
            await self._append(
                call,
                tool,
                "deny",
                waits=waits,
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
            raise UnrecordedDenial(guard_failed(call.tool, "audit", error).failure) from None

    async def _append(
        self,
        call: Call,
        tool: CompiledTool | None,
        decision: str,
        *,
        waits: bool = True,
        arguments: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> bool:
        audit, lock_retry = self._audit, self._lock_retry
        assert audit is not None
        assert lock_retry is not None
        if tool is not None and arguments is not None:
            await tool.invoker.prepare()
        record: dict[str, Any] = {
            "at": dt.datetime.fromtimestamp(self._clock(), dt.UTC).isoformat(),
            "decision": decision,
            "tool": call.tool[:64],
            "call": call.id,
            "user": call.caller.user,
            "context": dict(call.caller.context) or None,
            "confidence": call.confidence,
        }
        if tool is not None:
            record["spec"] = tool.hash
        if tool is not None and arguments is not None:
            record["implementation"] = tool.invoker.implementation_hash()
            record["arguments"] = redacted(arguments, tool.call_spec.parameters)
        record |= more
        told = {k: v for k, v in record.items() if v is not None}
        if waits:
            return (await lock_retry.over(lambda: audit.append(told)))[1]
        audit.append(told)
        return False
