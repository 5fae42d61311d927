"""Ask a person to confirm the calls of a turn, and carry out the decisions."""

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Literal

from toolmd._types.decision import Approver, Decision
from toolmd._types.pending import PendingCall
from toolmd._types.result import Failure, Result
from toolmd._workspace import Workspace

Said = Decision | bool | None
Confirmer = Callable[[PendingCall], Said | Awaitable[Said]]
"""Decides on a pending call: a Decision, plain yes or no, or None where nobody is available."""
MAX_ASKED = 8
"""How often one call is asked about, when edits don't fit or need another confirmation."""


class Decider:
    """Asks a person about a turn's pending calls, one after the other."""

    def __init__(self, workspace: Workspace, confirm: Confirmer | None, user: str | None) -> None:
        """Keep the parts."""
        self._workspace = workspace
        self._confirm = confirm
        self._user = user

    async def decide(
        self, results: list[Result], pending: Sequence[PendingCall]
    ) -> list[PendingCall]:
        """Write the outcomes of the decisions into `results`, each as soon as it is known.

        Return the calls that still wait. Reviews are not decided here: they wait for an operator.
        """
        known = {confirmation.id: confirmation for confirmation in pending}
        waiting = []
        for place, result in enumerate(results):
            if result.confirmation is not None:
                settled = await self._settle(results, place, known)
                if (confirmation := settled.confirmation) is not None:
                    waiting.append(known.get(confirmation.id) or _pending(settled))
        return waiting

    async def _settle(
        self, results: list[Result], place: int, known: dict[str, PendingCall]
    ) -> Result:
        """Ask until the call is decided, or nobody decides."""
        problem = ""
        for _ in range(MAX_ASKED):
            result = results[place]
            if (confirmation := result.confirmation) is None:
                return result
            pending = known.get(confirmation.id) or _pending(result)
            if pending.kind == "review":
                return result
            decision = await self._ask(pending, problem)
            if decision is None:
                return result
            results[place] = _interrupted(result)
            whole = await self._workspace.confirmations.decide(
                pending.id, decision, Approver(self._user)
            )
            after = await self._workspace.results.for_model(whole, user=self._user)
            failure = after.error if decision.kind != "reject" else None
            if failure is not None and failure.code == "invalid_arguments":
                # The pending call is unchanged: the person sees the error and decides again.
                results[place], problem = result, failure.message
                continue
            if decision.kind == "edit" and after.confirmation is not None:
                merged = {**pending.parameters, **decision.arguments}
                known[after.confirmation.id] = _pending(after)._replace(parameters=merged)
            results[place], problem = after, ""
        return results[place]

    async def _ask(self, pending: PendingCall, problem: str) -> Decision | None:
        if self._confirm is None:
            return None
        shown = pending._replace(prompt=f"{problem} {pending.prompt}") if problem else pending
        said = self._confirm(shown)
        said = await said if isawaitable(said) else said
        if isinstance(said, bool):
            return Decision.approve() if said else Decision.reject()
        if said is None or isinstance(said, Decision):
            return said
        # Anything else is not a decision, so nothing runs.
        raise TypeError(f"a confirmation is a Decision, a bool or None, not {said!r}")


def _interrupted(result: Result) -> Result:
    """Return the result to report if the decision is never carried out to the end."""
    message = "It was interrupted and may have taken effect: look before calling it again."
    return result._replace(
        outcome="unknown",
        message="",
        error=Failure("interrupted", message),
        confirmation=None,
    )


def _pending(result: Result) -> PendingCall:
    """Return the pending call in a result of a decision."""
    confirmation = result.confirmation
    assert confirmation is not None
    kind: Literal["confirm", "review"] = "review" if result.outcome == "review" else "confirm"
    return PendingCall(
        confirmation.id,
        kind,
        result.tool_call_id,
        result.tool,
        {},
        confirmation.prompt,
        confirmation.sensitivity,
        form=confirmation.form,
    )
