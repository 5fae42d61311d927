"""Write the decision on each call to the audit, before its effect."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from toolmd._call.ready import ReadyTool
from toolmd._call.refusal import Refusal, guard_failed
from toolmd._crash import logged
from toolmd._model.call import Call
from toolmd._model.verdict import Verdict
from toolmd._values.redact import redacted

if TYPE_CHECKING:
    from toolmd._call.audit.chain import Audit
    from toolmd._call.locked import Patience


class UnrecordedRefusal(Refusal):
    """Refuses because the decision could not be recorded."""


class Recorder:
    """Makes the records; without an audit, none."""

    def __init__(
        self, audit: "Audit | None", patience: "Patience | None", clock: Callable[[], float]
    ) -> None:
        """`patience` is had with an audit that is locked; without an audit it is None."""
        self._audit = audit
        self._patience = patience
        self._clock = clock
        self.keeps = audit is not None
        """Whether there is an audit."""

    async def runs(
        self,
        call: Call,
        tool: ReadyTool,
        arguments: Mapping[str, Any],
        held_id: str | None = None,
    ) -> bool:
        """Record that a call runs now; raises a Refusal where that can't be written.

        `held_id` is the held call that it redeems. Tells whether it had to wait.
        """
        if self._audit is None:
            return False
        return await self._write(call, tool, "run", arguments=arguments, held=held_id)

    async def held(
        self,
        call: Call,
        tool: ReadyTool,
        arguments: Mapping[str, Any],
        verdict: Verdict,
        held_id: str,
        *,
        instead_of: str | None = None,
    ) -> None:
        """Record that a call waits; raises a Refusal where that can't be written.

        `instead_of` is the hold that was decided, where its call is held anew.
        """
        if self._audit is not None and not call.dry_run:
            await self._write(call, tool, verdict.ruling.name.lower(), arguments=arguments,
                              code=verdict.code, reason=verdict.message, held=held_id,
                              instead_of=instead_of)  # fmt: skip

    async def decided(self, call: Call, tool: ReadyTool, state: str, held_id: str) -> None:
        """Record what a person did with a held call; raises a Refusal."""
        if self._audit is not None:
            arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
            await self._write(call, tool, state, arguments=arguments, held=held_id)

    async def denied(
        self, call: Call, tool: ReadyTool | None, refusal: Refusal, held_id: str | None = None
    ) -> None:
        """Record a refusal, of a held call too; it stays refused where that can't be written."""
        if self._audit is None or call.dry_run:
            return
        failure = refusal.failure if not callable(refusal.failure) else refusal.failure()
        faults = [[problem.code, problem.path] for problem in failure.details]
        # What was waited for once is not waited for again.
        waits = not isinstance(refusal, UnrecordedRefusal)
        try:
            await self._append(call, tool, "deny", waits=waits, code=failure.code,
                               reason=failure.message, faults=faults, held=held_id)  # fmt: skip
        except Exception as error:  # noqa: BLE001 - it is refused in any case
            if failure.code != "internal_guard_error":
                logged(error, "the refusal of %s was not recorded", call.tool)

    async def _write(self, call: Call, tool: ReadyTool, decision: str, **more: Any) -> bool:
        try:
            return await self._append(call, tool, decision, **more)
        except Exception as error:  # noqa: BLE001 - a call without its record must not run
            raise UnrecordedRefusal(guard_failed(call.tool, "audit", error).failure) from None

    async def _append(
        self,
        call: Call,
        tool: ReadyTool | None,
        decision: str,
        *,
        waits: bool = True,
        arguments: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> bool:
        audit, patience = self._audit, self._patience
        assert audit is not None
        assert patience is not None
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
            record["arguments"] = redacted(arguments, tool.contract.parameters)
        record |= more
        told = {k: v for k, v in record.items() if v is not None}
        if waits:
            return (await patience.over(lambda: audit.append(told)))[1]
        audit.append(told)
        return False
