"""Find what changed in the store since the last look, by any of its processes."""

from typing import TYPE_CHECKING, Any

from toolmd._workspace.listeners import WorkspaceEventKind
from toolmd._workspace.opened import OpenProject

if TYPE_CHECKING:
    from toolmd._workspace.runs.service import RunService

StoreChange = tuple[WorkspaceEventKind, dict[str, Any], str | None]
"""The kind of an event, its JSON, and its user."""


class StoreChanges:
    """The confirmations and runs of a store, as they were at the last look."""

    def __init__(self, project: OpenProject, service: "RunService") -> None:
        self._project = project
        self._service = service
        self._pending: dict[str, tuple[str, str | None]] = {}
        """The tools and users of the pending calls."""
        self._runs: dict[str, str] = {}
        """The states of the runs that execute or changed recently."""

    def note(self, kind: str, data: dict[str, Any], user: str | None) -> None:
        """Note an event of this process, which is no news."""
        if kind == "run":
            self._runs[data["run_id"]] = data["state"]
        elif kind == "pending" and data["state"] == "pending":
            self._pending[data["id"]] = (data["tool"], user)
        elif kind == "pending":
            self._pending.pop(data["id"], None)

    async def look(self) -> list[StoreChange]:
        """Return the changes since the last look; they may include some of this process.

        Raises UnreachableError.
        """
        import asyncio

        decisions = (await self._project.dispatcher()).decisions
        waiting = await asyncio.to_thread(decisions.pending)
        now = {one.id: (one.call.tool, one.call.caller.user) for one in waiting}
        before, self._pending = self._pending, now
        changes = [_told(one, "pending", now[one]) for one in now.keys() - before.keys()]
        changes += [_told(one, "closed", before[one]) for one in before.keys() - now.keys()]
        return changes + await asyncio.to_thread(self._changed_runs)

    def _changed_runs(self) -> list[StoreChange]:
        engines = self._service.engines
        # A project of tools alone opens no store of runs.
        if not (engines.keep and self._project.live.registry.skills):
            return []
        executed = [run for run, state in self._runs.copy().items() if state == "running"]
        before, self._runs = self._runs, {}
        changes: list[StoreChange] = []
        for run_id, skill, state, user in engines.durable().changed(executed):
            self._runs[run_id] = state
            if before.get(run_id) != state:
                changes.append(("run", {"run_id": run_id, "skill": skill, "state": state}, user))
        return changes


def _told(confirmation_id: str, state: str, of: tuple[str, str | None]) -> StoreChange:
    tool, user = of
    return "pending", {"id": confirmation_id, "state": state, "tool": tool}, user
