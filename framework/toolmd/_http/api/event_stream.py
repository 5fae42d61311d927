"""Publish a workspace's calls, snapshots, diagnostics and runs to the feed of events."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from toolmd._http.api.feed import Feed
from toolmd._types.call import Call
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.registry import Bound, Registry
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd._workspace.confirmations import StoreChanges
from toolmd._workspace.opened import WorkspaceEventKind
from toolmd.errors import ToolmdError, logged
from toolmd.hooks import hookimpl

LOOK_S = 1.0
"""How often the store is read for what other processes did, in seconds."""
PLUGIN = "toolmd-events"
"""The plugin's name in `toolmd plugins`: pass `EventSource` to `Workspace.open` under it."""


class EventSource:
    """A plugin of the workspace that publishes its events."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self._generation = 1
        self._ends: list[Callable[[], None]] = []
        self._changes: StoreChanges | None = None
        self._followers = 0
        self._looking: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

    @property
    def generation(self) -> int:
        """The number of the snapshot since the start; the first is 1."""
        return self._generation

    def listen(self, workspace: Workspace) -> None:
        """Start to publish snapshots, findings and runs."""
        self._ends = [
            workspace.on_change(self._changed),
            workspace.on_checked(self._checked),
            workspace.on_workspace_event(self._publish),
        ]
        if workspace.settings.store != "memory":
            self._changes = workspace.confirmations.store_changes

    def close(self) -> None:
        """Stop publishing."""
        for end in self._ends:
            end()

    @asynccontextmanager
    async def followed(self) -> AsyncIterator[None]:
        """Publish what other processes of the store do, too, while somebody follows the feed."""
        self._followers += 1
        try:
            async with self._starting:
                if self._looking is None and self._changes is not None:
                    lost = True
                    with suppress(ToolmdError):
                        # What is there at the start is no news.
                        await self._changes.look()
                        lost = False
                    self._looking = asyncio.create_task(self._look_often(self._changes, lost=lost))
            yield
        finally:
            self._followers -= 1
            if not self._followers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look_often(self, changes: StoreChanges, *, lost: bool) -> None:
        """Publish the changes of the store; `lost` is whether the last look failed."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                found = await changes.look()
            except Exception as error:  # noqa: BLE001 - the next look may succeed
                if not lost:
                    logged(error, "the events of other processes can't be read now")
                lost = True
                continue
            if lost:
                self.feed.publish("resync", {})
            lost = False
            for change in found:
                self.feed.publish(*change)

    def _publish(self, kind: WorkspaceEventKind, data: dict[str, Any], user: str | None) -> None:
        if self._changes is not None:
            self._changes.note(kind, data, user)
        self.feed.publish(kind, data, user)

    @hookimpl
    def toolmd_after_call(self, call: Call, spec: ToolSpec, result: Result) -> None:
        """Publish a call, and the confirmation that it needs."""
        del spec
        if call.dry_run:
            return
        told = {"tool": result.tool, "outcome": result.outcome}
        if result.tool_call_id is not None:
            told["tool_call_id"] = result.tool_call_id
        if result.error is not None:
            told["code"] = result.error.code
        self.feed.publish("call", told, call.caller.user)
        confirmation = result.confirmation
        if confirmation is not None and confirmation.id:
            waiting = {"id": confirmation.id, "state": "pending", "tool": result.tool}
            self._publish("pending", waiting, call.caller.user)

    def _changed(self, old: Registry, new: Registry) -> None:
        self._generation += 1
        before, after = _named(old), _named(new)
        told: dict[str, Any] = {
            "generation": self._generation,
            "tools": len(new.tools),
            "skills": len(new.skills),
            "added": sorted(after.keys() - before.keys()),
            "removed": sorted(before.keys() - after.keys()),
            "changed": sorted(n for n in after.keys() & before.keys() if after[n] != before[n]),
        }
        self.feed.publish("snapshot", told)
        if old.pending_changes != new.pending_changes:
            names = [edit.name for edit in new.pending_changes]
            self.feed.publish("policy-change", {"names": names}, None)

    def _checked(self, found: tuple[Diagnostic, ...]) -> None:
        counted = Counter(str(one.severity) for one in found)
        told = {f"{kind}s": counted[kind] for kind in ("error", "warning", "hint")}
        self.feed.publish("diagnostics", told, None)


def _named(registry: Registry) -> dict[str, tuple[str, bool, str]]:
    bound: tuple[Bound[Any], ...] = (*registry.tools.values(), *registry.skills.values())
    return {one.name: (one.hash, one.stale, one.target) for one in bound}
