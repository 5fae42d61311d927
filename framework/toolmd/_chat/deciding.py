"""Ask a person to confirm the calls of a turn, and carry out the decisions."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable

from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.result import Failure, Result
from toolmd._workspace import Workspace

Said = Decision | bool | None
Confirmer = Callable[[Confirmation], Said | Awaitable[Said]]
"""Decides on a pending call: a Decision, plain yes or no, or None where nobody is available."""
MAX_ASKED = 8
"""How often one call is asked about, when edits don't fit or need another confirmation."""
INTERRUPTED = "It was interrupted and may have taken effect: look before calling it again."


class Decider:
    """Asks a person about a turn's pending calls, one after the other."""

    def __init__(self, workspace: Workspace, confirm: Confirmer | None, user: str | None) -> None:
        """Keep the parts."""
        self._workspace = workspace
        self._confirm = confirm
        self._user = user

    async def decide(self, results: list[Result]) -> list[Confirmation]:
        """Write the outcomes of the decisions into `results`, each as soon as it is known.

        Return the calls that still wait. Reviews are not decided here: they wait for an operator.
        """
        for place in range(len(results)):
            await self._settle(results, place)
        return [one.confirmation for one in results if one.confirmation is not None]

    async def _settle(self, results: list[Result], place: int) -> None:
        """Ask until the call is decided, or nobody decides."""
        problem = ""
        for _ in range(MAX_ASKED):
            result = results[place]
            pending = result.confirmation
            if pending is None or pending.kind == "review":
                return
            decision = await self._ask(pending, problem)
            if decision is None:
                return
            # The result to report if the decision is never carried out to the end.
            failure = Failure("interrupted", INTERRUPTED)
            results[place] = result._replace(
                outcome="unknown", message="", error=failure, confirmation=None
            )
            whole = await self._workspace.confirmations.decide(
                pending.id, decision, Approver(self._user)
            )
            after = await self._workspace.results.for_model(whole, user=self._user)
            results[place], problem = after, ""
            if after.error is not None and after.error.code == "invalid_arguments":
                # The pending call is unchanged: the person sees the error and decides again.
                results[place], problem = result, after.error.message

    async def _ask(self, pending: Confirmation, problem: str) -> Decision | None:
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
