"""Turns of a conversation with a model: its replies handled, and its calls made."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolmd._types.call import Call, Caller
from toolmd._types.result import EventListener, Result
from toolmd._workspace.opened import OpenProject
from toolmd._workspace.runs.control import Runs

if TYPE_CHECKING:
    # A program that only calls tools handles no reply.
    from toolmd._types.turn import Turn
    from toolmd._workspace.replies.handler import ReplyHandler


class Turns:
    """Handles what models say, each reply on one snapshot; see `Workspace.handle`."""

    def __init__(self, project: OpenProject, runs: Runs) -> None:
        self._project = project
        self._runs = runs

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
        with self._handler() as handler:
            return await handler.handle(
                reply, dialect, caller=caller, dry_run=dry_run, on_event=on_event
            )

    async def take(self, call: Call, on_event: EventListener | None) -> Result:
        """Make one call of a model, of a tool or a skill."""
        with self._handler() as handler:
            return await handler.take_alone(call, on_event)

    def system_prompt(self, dialect: str) -> str:
        """Return the prompt that teaches a text dialect and the tools."""
        from toolmd._dialect import system_prompt

        live = self._project.live
        tools = [bound.spec for bound in live.registry.tools.values()]
        return system_prompt(tools, dialect, live.dialects.by_name)

    @contextmanager
    def _handler(self) -> Iterator["ReplyHandler"]:
        """Give the handler of one snapshot, whatever is reloaded meanwhile."""
        from toolmd._workspace.replies.handler import ReplyHandler

        self._project.check_open()
        live = self._project.live
        with live.snapshot.resources.hold():
            yield ReplyHandler(live.open_dispatcher(), live.dialects.by_name, self._runs)
