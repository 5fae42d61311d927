"""Report the events of a run while it is executed, and let a stopped run only undo."""

import time
from typing import Any

from toolmd._skills.journal import CancelledRunError, Effect, Journal, ParkedError, UncertainOutcome
from toolmd._types.call import Call
from toolmd._types.result import Event
from toolmd._types.run import Answer, Order, Question, RunEvent, RunState
from toolmd._workspace.listeners import WorkspaceEventListener

PROGRESS_S = 0.2
"""The shortest time between two events of a run's progress, in seconds."""


class NotifyingJournal:
    """The journal of a run that also reports each event to the workspace's listeners."""

    def __init__(
        self,
        order: Order,
        journal: Journal,
        tell: WorkspaceEventListener,
        told: set[tuple[str, str, str]],
    ) -> None:
        """`told` are the events that were reported before, which are not reported again."""
        self._told = told
        self._order = order
        self._journal = journal
        self._tell = tell
        self._stopped = False
        self._titles: dict[str, tuple[str, str]] = {}
        """The skill and the title of each step that began."""
        self._items: dict[str, int] = {}
        """How many items each call streamed."""
        self._progressed = float("-inf")
        self.now = journal.now
        self.has = journal.has
        self.begun = journal.begun
        self.wait = journal.wait

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Perform an effect as the journal does; a stopped run only undoes."""
        if self._stopped and not undoing and not self._journal.has(key):
            raise CancelledRunError
        return await self._journal.perform(key, effect, undoing=undoing, uncertain=uncertain)

    async def answer(self, question: Question) -> Answer:
        """Return the journal's answer; a stopped run asks only to undo."""
        try:
            return await self._journal.answer(question)
        except ParkedError:
            if self._stopped and not question.undoes:
                raise CancelledRunError from None
            raise

    async def go_on(self) -> None:
        """Check that the run may continue; a stopped one may not."""
        if self._stopped:
            raise CancelledRunError
        await self._journal.go_on()

    async def agreed(self, question: Question) -> None:
        """Ask a person whether the run may continue, and stop it on a no. Raises ParkedError."""
        try:
            self._stopped = not (await self._journal.answer(question)).approved
        except CancelledRunError:
            self._stopped = True

    def tell(self, event: RunEvent) -> None:
        """Pass an event to the journal, and report it once."""
        self._titles[event.step] = event.skill, event.title
        self._journal.tell(event)
        self._once(event)

    def heard(self, call: Call, event: Event) -> None:
        """Report the progress of a step's call; texts of a run with Sensitive values are hidden."""
        key = (call.key or "").removeprefix(f"{self._order.id}/")
        step = key.rpartition(":")[0]
        if event.kind == "item":
            self._items[key] = self._items.get(key, 0) + 1
        now = time.monotonic()
        if step not in self._titles or now - self._progressed < PROGRESS_S:
            return
        self._progressed = now
        told = event.data if isinstance(event.data, dict) and event.kind == "progress" else {}
        text = "" if self._order.plan.holds_sensitive else str(told.get("text") or "")
        if event.kind == "item":
            text = f"{self._items[key]} items"
        share = told.get("fraction")
        shown = " ".join(filter(None, ("" if share is None else f"{share:.0%}", text)))
        if shown:
            skill, title = self._titles[step]
            self.tell(RunEvent(self._order.id, "progress", skill, step, title, shown))

    def state(self, state: RunState) -> None:
        """Report the state of the run."""
        order = self._order
        told = {"run_id": order.id, "skill": order.plan.skill.name, "state": state}
        self._tell("run", told, order.caller.user)

    def parked(self, parked: ParkedError) -> None:
        """Report what the run waits for."""
        for question in parked.questions:
            self._once(RunEvent.waiting(question))
        self.state("waiting")

    def _once(self, event: RunEvent) -> None:
        if (mark := event.mark) not in self._told:
            self._told.add(mark)
            self._tell("run-step", event.to_dict(), self._order.caller.user)
