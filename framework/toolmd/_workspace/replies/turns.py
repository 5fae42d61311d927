"""Turns of a conversation with a model: its replies handled, and its calls taken."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolmd._model.call import Call, Caller
from toolmd._model.result import EventListener, Result
from toolmd._workspace.replies.inbox import Inbox

if TYPE_CHECKING:
    # Who only calls tools handles no reply.
    from toolmd._model.turn import Turn


class Turns(Inbox):
    """Turns of a conversation with a model."""

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
        on_event: EventListener | None = None,
    ) -> "Turn":
        """Take the calls of a model's reply at once, and give its words, results and what waits.

        `reply` is text, JSON text, bytes, a dict, or a provider's object. `message` is what the
        user said; `user`, `patient` and `conversation` come from the host. One call that can't
        be read refuses them all. Raises NotFoundError for a dialect that is not there.
        """
        caller = Caller(user, patient, message, conversation)
        with self._handler() as handler:
            turn: Turn = await handler.handle(
                reply, dialect, caller=caller, dry_run=dry_run, on_event=on_event
            )
            return turn

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
        on_event: EventListener | None = None,
    ) -> Result:
        """Call a tool, or a skill that can run, by a name under which it was exported.

        A skill's questions are held like calls: `confirm` and `reject` take them.
        """
        caller = Caller(user, patient, message, conversation)
        call = Call(name, arguments, confidence=confidence, caller=caller)
        with self._handler() as handler:
            taken: Result = await handler.take_alone(call, on_event)
            return taken

    def handle_sync(self, reply: Any, dialect: str = "auto", **options: Any) -> "Turn":
        """Do as `handle`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.handle(reply, dialect, **options))

    def system_prompt(self, dialect: str) -> str:
        """Give the prompt that teaches a text dialect and the tools, made from the definitions.

        It is empty for a dialect of an interface that carries tools itself: `export` those.
        Raises NotFoundError for a dialect that is not there.
        """
        from toolmd._dialect import system_prompt

        live = self._live
        tools = [bound.spec for bound in live.registry.tools.values()]
        return system_prompt(tools, dialect, live.dialects.by_name)

    @contextmanager
    def _handler(self) -> Iterator[Any]:
        """Give the ReplyHandler of one snapshot, whatever is reloaded meanwhile."""
        from toolmd._workspace.replies.handler import ReplyHandler

        self._check_open()
        live = self._live
        with live.snapshot.resources.hold():
            yield ReplyHandler(live.open_door(), live.dialects.by_name, self._skill_calls)
