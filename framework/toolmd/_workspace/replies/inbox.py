"""What waits for a person: held calls, and what runs ask; decided by people alone."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolmd._model.held import HeldCall
from toolmd._model.result import Result
from toolmd._model.run import Answer
from toolmd._workspace.listeners import NoticeListener
from toolmd._workspace.runs.control import RunControl

if TYPE_CHECKING:
    # Who only calls tools handles no reply.
    from toolmd._model.turn import Pending

_NOTHING_HAPPENED = frozenset(
    ("confirmation_not_found", "confirmation_used", "confirmation_expired", "held_for_review")
)


class Inbox(RunControl):
    """What waits for a person, and their decisions."""

    def pending(self, user: str | None = None) -> tuple[HeldCall, ...]:
        """Give what waits for a person, the oldest first: held calls, and runs' questions.

        Those of one user, or of all. A run's question is decided under `RUN/KEY`.
        """
        asked = self._all_runs().pending()
        # A run asks for the calls that the door held for it; they are not decided twice.
        held = [
            one
            for one in self._door().decisions.pending(user)
            if not any(other.id.startswith(f"{one.call.id}:") for other in asked)
        ]
        theirs = [one for one in asked if user is None or one.call.caller.user == user]
        return tuple(sorted((*held, *theirs), key=lambda one: one.created))

    def waiting(self, held_id: str) -> "Pending | None":
        """Give what waits under this id, a held call or a skill's question; None where nothing."""
        from toolmd._model.turn import Pending

        asked: Pending | None = self._skill_calls.waiting(held_id)
        if asked is not None:
            return asked
        held: HeldCall | None = self._door().decisions.held_sync(held_id)
        if held is None or held.state != "pending":
            return None
        given = dict(held.call.arguments) if isinstance(held.call.arguments, Mapping) else {}
        return Pending(held.id, held.kind, held.call.id, held.call.tool, given, held.prompt,
                       held.sensitivity)  # fmt: skip

    async def confirm(
        self, held_id: str, *, edit: Mapping[str, Any] | None = None, user: str | None = None
    ) -> Result:
        """Approve a held call and run it; `edit` replaces some of its arguments.

        An edit is validated and judged again, and counts as approval but for critical tools,
        which ask once more. A host that names no user decides for its operator.
        """
        answer = Answer(approved=True, arguments=dict(edit) if edit else None, by=user)
        answered = await self._answered(held_id, answer, user)
        result = answered or await self._door().decisions.confirm(held_id, edit=edit, user=user)
        return await self._decided(held_id, "edited" if edit else "approved", result, user)

    async def reject(self, held_id: str, *, user: str | None = None) -> Result:
        """Refuse a held call: it never runs."""
        answered = await self._answered(held_id, Answer(approved=False, by=user), user)
        result = answered or await self._door().decisions.reject(held_id, user=user)
        return await self._decided(held_id, "rejected", result, user)

    async def respond(self, held_id: str, text: str, *, user: str | None = None) -> Result:
        """Answer a held call in the tool's stead: it never runs, and `text` is its result."""
        answer = Answer(approved=True, text=text, by=user)
        answered = await self._answered(held_id, answer, user)
        result = answered or await self._door().decisions.respond(held_id, text, user=user)
        return await self._decided(held_id, "responded", result, user)

    def confirm_sync(self, held_id: str, **options: Any) -> Result:
        """Do as `confirm`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.confirm(held_id, **options))

    def reject_sync(self, held_id: str, **options: Any) -> Result:
        """Do as `reject`, for those who can't await."""
        return self._loop.run(self.reject(held_id, **options))

    def respond_sync(self, held_id: str, text: str, **options: Any) -> Result:
        """Do as `respond`, for those who can't await."""
        return self._loop.run(self.respond(held_id, text, **options))

    def on_notice(self, listener: NoticeListener) -> Callable[[], None]:
        """Have `listener` hear of decisions and runs, whichever door they came through.

        It is called by the thread in which they happen, with `pending`, `run` or `run-step`,
        the JSON of it, and the user whose it is. What it raises is logged. Gives what ends it.
        """
        return self._notices.add(listener)

    async def _decided(self, held_id: str, state: str, result: Result, user: str | None) -> Result:
        if self._notices and (result.error is None or result.error.code not in _NOTHING_HAPPENED):
            held: HeldCall | None = await self._door().decisions.held(held_id)
            whose = user if held is None else held.call.caller.user
            told = {"id": held_id, "state": state, "tool": result.tool}
            self._notices.tell("pending", told, whose)
        return result

    async def _answered(self, held_id: str, answer: Answer, user: str | None) -> Result | None:
        """Give what comes of a question that a skill's run asked; None where none did."""
        if "/" not in str(held_id):
            return None
        answered: Result | None = await self._skill_calls.decide(held_id, answer, user)
        return answered

    @cached_property
    def _skill_calls(self) -> Any:
        from toolmd._workspace.replies.skill_calls import SkillCalls

        return SkillCalls(self._all_runs())
