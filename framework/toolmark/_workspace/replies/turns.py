"""What a workspace does with a model's whole reply, and with what its calls wait for."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from toolmark._model.call import Call, Caller
from toolmark._model.held import HeldCall
from toolmark._model.result import Result
from toolmark._model.run import Answer
from toolmark._model.turn import Pending, Turn
from toolmark._workspace.callbacks import Listener
from toolmark._workspace.notices import NoticeListener, Notices
from toolmark._workspace.runs.control import RunControl
from toolmark._workspace.snapshot.live import Live

_NOTHING_HAPPENED = frozenset(
    ("confirmation_not_found", "confirmation_used", "confirmation_expired", "held_for_review")
)


class Turns(RunControl):
    """Turns of a conversation with a model."""

    _live: Live
    _notices: Notices

    def _all_runs(self) -> Any:
        raise NotImplementedError

    async def handle(  # noqa: PLR0913 - the face of a turn, by keyword
        self,
        reply: Any,
        dialect: str = "auto",
        *,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
        on_event: Listener | None = None,
    ) -> Turn:
        """Take the calls of a model's reply at once, and give its words, results and what waits.

        `reply` is text, JSON text, bytes, a dict, or a provider's object. `message` is what the
        user said; `user`, `patient` and `conversation` come from the host. One call that can't
        be read refuses them all. Raises NotFoundError for a dialect that is not there.
        """
        from toolmark._workspace.replies.handler import ReplyHandler

        self._door()
        # The door and the dialects of one snapshot, whatever is reloaded meanwhile.
        live = self._live
        with live.snapshot.resources.hold():
            door = live.open_door()
            handler = ReplyHandler(door, live.dialects.by_name, self._skill_calls)
            caller = Caller(user, patient, message, conversation)
            return await handler.handle(
                reply, dialect, caller=caller, dry_run=dry_run, on_event=on_event
            )

    async def take(  # noqa: PLR0913 - the face of a call, by keyword
        self,
        name: str,
        arguments: Mapping[str, Any] | str | bytes = "{}",
        *,
        confidence: Any = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        on_event: Listener | None = None,
    ) -> Result:
        """Call a tool, or a skill that can run, by a name under which it was exported.

        A skill's questions are held like calls: `confirm` and `reject` take them.
        """
        from toolmark._dialect.decoder import MAX_BYTES
        from toolmark._workspace.replies.handler import ReplyHandler

        self._door()
        live = self._live
        with live.snapshot.resources.hold():
            door = live.open_door()
            caller = Caller(user, patient, message, conversation)
            if isinstance(arguments, str | bytes) and len(arguments) > MAX_BYTES:
                told = f"the arguments of {name} are over {MAX_BYTES // 1024} KiB"
                refused: Result = door.refuse_reply(
                    "malformed_call", told, caller=caller, dry_run=False
                )
                return refused
            handler = ReplyHandler(door, live.dialects.by_name, self._skill_calls)
            call = Call(name, arguments, confidence=confidence, caller=caller)
            return await handler.take(call, on_event=on_event)

    def waiting(self, held_id: str) -> Pending | None:
        """Give what waits under this id, a held call or a skill's question; None where nothing."""
        asked: Pending | None = self._skill_calls.waiting(held_id)
        if asked is not None:
            return asked
        held: HeldCall | None = self._door().decisions.held(held_id)
        if held is None or held.state != "pending":
            return None
        given = dict(held.call.arguments) if isinstance(held.call.arguments, Mapping) else {}
        return Pending(held.id, held.kind, held.call.id, held.call.tool, given, held.prompt,
                       held.sensitivity)  # fmt: skip

    def handle_sync(self, reply: Any, dialect: str = "auto", **options: Any) -> Turn:
        """Do as `handle`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.handle(reply, dialect, **options))

    def system_prompt(self, dialect: str) -> str:
        """Give the prompt that teaches a text dialect and the tools, made from the definitions.

        It is empty for a dialect of an interface that carries tools itself: `export` those.
        Raises NotFoundError for a dialect that is not there.
        """
        from toolmark._dialect import system_prompt

        live = self._live
        tools = [bound.spec for bound in live.registry.tools.values()]
        return system_prompt(tools, dialect, live.dialects.by_name)

    async def confirm(
        self, held_id: str, *, edit: Mapping[str, Any] | None = None, user: str | None = None
    ) -> Result:
        """Approve a held call and run it; `edit` replaces some of its arguments.

        An edit is validated and judged again, and counts as approval but for critical tools,
        which ask once more. A host that names no user decides for its operator.
        """
        answer = Answer(approved=True, arguments=dict(edit) if edit else None, by=user)
        answered = await self._answered(held_id, answer, user)
        result = answered or await super().confirm(held_id, edit=edit, user=user)
        return self._decided(held_id, "edited" if edit else "approved", result, user)

    async def reject(self, held_id: str, *, user: str | None = None) -> Result:
        """Refuse a held call: it never runs."""
        answered = await self._answered(held_id, Answer(approved=False, by=user), user)
        result = answered or await super().reject(held_id, user=user)
        return self._decided(held_id, "rejected", result, user)

    async def respond(self, held_id: str, text: str, *, user: str | None = None) -> Result:
        """Answer a held call in the tool's stead: it never runs, and `text` is its result."""
        answer = Answer(approved=True, text=text, by=user)
        answered = await self._answered(held_id, answer, user)
        result = answered or await super().respond(held_id, text, user=user)
        return self._decided(held_id, "responded", result, user)

    def on_notice(self, listener: NoticeListener) -> Callable[[], None]:
        """Have `listener` hear of decisions and runs, whichever door they came through.

        It is called by the thread in which they happen, with `pending`, `run` or `run-step`,
        the JSON of it, and the user whose it is. What it raises is logged. Gives what ends it.
        """
        return self._notices.subscribe(listener)

    def _decided(self, held_id: str, state: str, result: Result, user: str | None) -> Result:
        if self._notices.subscribed and (
            result.error is None or result.error.code not in _NOTHING_HAPPENED
        ):
            held: HeldCall | None = self._door().decisions.held(held_id)
            whose = user if held is None else held.call.caller.user
            self._notices("pending", {"id": held_id, "state": state, "tool": result.tool}, whose)
        return result

    async def _answered(self, held_id: str, answer: Answer, user: str | None) -> Result | None:
        """Give what comes of a question that a skill's run asked; None where none did."""
        if "/" not in held_id:
            return None
        answered: Result | None = await self._skill_calls.decide(held_id, answer, user)
        return answered

    @cached_property
    def _skill_calls(self) -> Any:
        from toolmark._workspace.replies.skill_calls import SkillCalls

        return SkillCalls(self._all_runs())
