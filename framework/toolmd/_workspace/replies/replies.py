"""Turns of a conversation with a model: its replies handled, and its calls made."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from toolmd._types.call import Call, Caller
from toolmd._types.result import EventListener, Result
from toolmd._workspace.background_loop import off_loop
from toolmd._workspace.opened import OpenProject

if TYPE_CHECKING:
    # A program that only calls tools handles no reply.
    from toolmd._types.turn import Turn
    from toolmd._workspace.replies.handler import ReplyHandler


class Turns:
    """Handles what models say, each reply on one snapshot; see `Workspace.handle`."""

    def __init__(self, project: OpenProject) -> None:
        self._project = project
        self._class: type[ReplyHandler] | None = None

    async def handle(
        self,
        reply: Any,
        dialect: str,
        *,
        caller: Caller,
        dry_run: bool,
        on_event: EventListener | None,
    ) -> "Turn":
        """Make the calls of a reply; raises NotFoundError for a dialect that is not there."""
        async with self._handler() as handler:
            return await handler.handle(
                reply, dialect, caller=caller, dry_run=dry_run, on_event=on_event
            )

    async def dispatch(self, call: Call, on_event: EventListener | None) -> Result:
        """Make one call of a model, of a tool or a skill."""
        async with self._handler() as handler:
            return await handler.take_alone(call, on_event)

    def system_prompt(self, dialect: str) -> str:
        """Return the prompt that teaches a text dialect and the tools."""
        from toolmd._dialect import system_prompt

        live = self._project.live
        tools = [bound.spec for bound in live.for_models().values()]
        return system_prompt(tools, dialect, live.dialects.by_name)

    @asynccontextmanager
    async def _handler(self) -> AsyncIterator["ReplyHandler"]:
        """Open the handler of one snapshot, whatever is reloaded meanwhile."""
        self._project.check_open()
        live = self._project.live
        with live.snapshot.resources.hold():
            await live.settle()
            if self._class is None:
                self._class = await off_loop(_import_handler)
            dispatcher, dialects = await live.ready_dispatcher(), live.dialects.by_name
            yield self._class(dispatcher, dialects, self._project, live.keeper)


def _import_handler() -> "type[ReplyHandler]":
    from toolmd._workspace.replies.handler import ReplyHandler

    return ReplyHandler
