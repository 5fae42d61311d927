"""Return notice of a run while it is played: its steps, what it waits for, and how it ends."""

from typing import Any

from toolmd._skills.engine.outcomes import ended
from toolmd._skills.journal import CancelledRunError, Effect, Journal, ParkedError, UncertainOutcome
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Order, Question, RunEvent, RunState
from toolmd._workspace.listeners import WorkspaceEventListener


class NotifyingJournal:
    """The journal of a run, with a notice of each event while it is played."""

    def __init__(
        self,
        order: Order,
        journal: Journal,
        tell: WorkspaceEventListener,
        told: set[tuple[str, str, str]],
    ) -> None:
        """`told` are the events of when the run was played before, which are not told again."""
        self._told = told
        self._order = order
        self._journal = journal
        self._tell = tell
        self._stopped = False
        self.now = journal.now
        self.reach = journal.reach
        self.holds = journal.holds
        self.wait = journal.wait

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Do as the journal does; a run that was not agreed to does nothing new but undo."""
        if self._stopped and not undoing and not self._journal.holds(key):
            raise CancelledRunError
        return await self._journal.perform(key, effect, undoing=undoing, uncertain=uncertain)

    async def answer(self, question: Question) -> Answer:
        """Do as the journal does."""
        try:
            return await self._journal.answer(question)
        except ParkedError:
            if self._stopped and not question.undoes:
                raise CancelledRunError from None
            raise

    async def go_on(self) -> None:
        """Do as the journal does; a run that was not agreed to goes on no more either."""
        if self._stopped:
            raise CancelledRunError
        await self._journal.go_on()

    async def agreed(self, question: Question) -> None:
        """Let a person say whether the run goes on at all; raises ParkedError."""
        try:
            self._stopped = not (await self._journal.answer(question)).approved
        except CancelledRunError:
            self._stopped = True

    def tell(self, event: RunEvent) -> None:
        """Hand an event on, and tell it."""
        self._journal.tell(event)
        self._once(event)

    def state(self, state: RunState) -> None:
        """Report where the run stands now."""
        order = self._order
        told = {"run_id": order.id, "skill": order.plan.skill.name, "state": state}
        self._tell("run", told, order.caller.user)

    def parked(self, parked: ParkedError) -> None:
        """Report what the run waits for."""
        for question in parked.questions:
            self._once(RunEvent.waiting(question))
        self.state("waiting")

    def ended(self, result: SkillResult) -> None:
        """Report how the run ended."""
        self.state(ended(result))

    def _once(self, event: RunEvent) -> None:
        if event.mark not in self._told:
            self._told.add(event.mark)
            self._tell("run-step", event.to_dict(), self._order.caller.user)
