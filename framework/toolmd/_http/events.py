"""The events of a workspace: a feed of the latest ones, and a stream for each client."""

import asyncio
import json
import secrets
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from sse_starlette import EventSourceResponse, ServerSentEvent

from toolmd._http.operations import ApiError
from toolmd._types.call import Call
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.registry import Registry
from toolmd._types.result import Result
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd.errors import ToolmdError, logged
from toolmd.hooks import hookimpl

PLUGIN = "toolmd-events"
"""The plugin's name in `toolmd plugins`: pass `EventSource` to `Workspace.open` under it."""
KEPT = 1000
"""The number of events that a client may fall behind, or miss while it is away."""
MOST = 64
"""The most clients of the stream."""
LONGEST_NUMBER = 16
"""The most digits of an event's number."""
LOOK_S = 1.0
"""How often the store is read for what other processes did, in seconds."""
GRACE_S = 20.0
"""How long a stream may take to end by itself at the server's end, in seconds."""
FOR_ALL = "*"
"""The owner of events for every user."""
KINDS = {
    "hello": ("`{generation}`", "The first event; the snapshot's number since the start."),
    "snapshot": (
        "`{generation, tools, skills, added, removed, changed}`",
        "A new snapshot is live: how many there are, and the names that changed.",
    ),
    "diagnostics": ("`{errors, warnings, hints}`", "How many findings there are. For operators."),
    "policy-change": ("`{names}`", "The pending edits that weaken a policy. For operators."),
    "call": ("`{tool, outcome, tool_call_id?, code?}`", "A call ended, on any interface."),
    "pending": (
        "`{id, state, tool}`",
        "State: `pending`, `escalated`, `closed`, `approved`, `edited`, `rejected`, `answered`.",
    ),
    "run": ("`{run_id, skill, state}`", "A run changed its state."),
    "run-step": (
        "`{run_id, kind, skill, step, title, text}`",
        "`started`, `skipped`, `waiting`, `done`, `failed`, `undone`, `kept` or `progress`.",
    ),
    "resync": ("`{}`", "Events were lost: read everything again."),
}
"""The kinds of events: their `data`, and when they are sent."""


class StreamedEvent(NamedTuple):
    """An event, with its number and owner."""

    number: int
    kind: str
    data: dict[str, Any]
    whose: str | None
    """A user, FOR_ALL, or None for the operator only."""


class Feed:
    """A ring of the latest events: a slow client falls behind, and delays no other."""

    def __init__(self) -> None:
        self._start = secrets.token_hex(4)
        self._ring: deque[StreamedEvent] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._number = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._followers = 0
        self._closed = False

    def serve_here(self) -> None:
        """Store the running loop as the one that serves."""
        self._loop = asyncio.get_running_loop()

    def publish(self, kind: str, data: dict[str, Any], whose: str | None = FOR_ALL) -> None:
        """Publish an event to its owner's clients; any thread may call this."""
        with self._lock:
            self._number += 1
            self._ring.append(StreamedEvent(self._number, kind, data, whose))
        self._wake()

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        self._wake()

    @property
    def latest(self) -> str:
        """The id of the latest event."""
        return self.id_of(self._number)

    def id_of(self, number: int) -> str:
        """Return the id of an event; it contains a random part that identifies this process."""
        return f"{self._start}-{number}"

    async def follow(self, last_id: str, user: str | None) -> AsyncIterator[StreamedEvent]:
        """Return the events since `last_id` and all that follow, of one user or of all.

        If `last_id` is unknown or too old, the first event is `resync`: read everything again.
        """
        start, _, number = last_id.partition("-")
        known = start == self._start and number.isascii() and number.isdigit()
        last = int(number[:LONGEST_NUMBER]) if known else -1
        last = last if last <= self._number else -1
        self._followers += 1
        try:
            async for event in self._follow(last, user):
                yield event
        finally:
            self._followers -= 1

    async def _follow(self, last: int, user: str | None) -> AsyncIterator[StreamedEvent]:
        while not self._closed:
            news = self._news  # before a look at the events: a later one wakes it
            with self._lock:
                events = [event for event in self._ring if event.number > last]
                lost = last < 0 or (bool(events) and events[0].number > last + 1)
                now = self._number
            if lost:
                first = events[0].number - 1 if events else now
                yield StreamedEvent(first, "resync", {}, FOR_ALL)
                last = first
            for event in events:
                if user is None or event.whose in {FOR_ALL, user}:
                    yield event
                last = event.number
            if not events:
                await news.wait()

    def _wake(self) -> None:
        # Most calls of a server have nobody who follows, and waking a loop costs a system call.
        if self._followers and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ring_all)

    def _ring_all(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


class EventSource:
    """A plugin of the workspace that publishes its events."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.generation = 1
        """The number of the snapshot since the start."""
        self._ends: list[Callable[[], None]] = []
        self._changes: Any = None
        self._followers = 0
        self._looking: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()

    def listen(self, workspace: Workspace) -> None:
        """Start to publish snapshots, findings and runs."""
        self._ends = [
            workspace.on_change(self._publish_snapshot),
            workspace.on_checked(self._publish_findings),
            workspace.on_workspace_event(self._publish),
        ]
        if workspace.settings.store != "memory":
            self._changes = workspace.confirmations.store_changes

    def close(self) -> None:
        """Stop publishing."""
        for end in self._ends:
            end()

    @asynccontextmanager
    async def poll(self) -> AsyncIterator[None]:
        """Publish what other processes of the store do, too, while somebody follows the feed."""
        self._followers += 1
        try:
            async with self._starting:
                if self._looking is None and self._changes is not None:
                    lost = True
                    with suppress(ToolmdError):
                        await self._changes.look()  # what is there at the start is no news
                        lost = False
                    self._looking = asyncio.create_task(self._look_often(lost=lost))
            yield
        finally:
            self._followers -= 1
            if not self._followers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look_often(self, *, lost: bool) -> None:
        """Publish the changes of the store; `lost` is whether the last look failed."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                found = await self._changes.look()
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

    def _publish(self, kind: str, data: dict[str, Any], user: str | None) -> None:
        if self._changes is not None:
            self._changes.note(kind, data, user)
        self.feed.publish(kind, data, user)

    @hookimpl
    def toolmd_after_call(self, call: Call, spec: ToolSpec, result: Result) -> None:
        """Publish a call, and the confirmation that it needs."""
        del spec
        if call.dry_run:
            return
        data: dict[str, Any] = {"tool": result.tool, "outcome": result.outcome}
        if result.tool_call_id is not None:
            data["tool_call_id"] = result.tool_call_id
        if result.error is not None:
            data["code"] = result.error.code
        self.feed.publish("call", data, call.caller.user)
        if result.confirmation is not None and result.confirmation.id:
            pending = {"id": result.confirmation.id, "state": "pending", "tool": result.tool}
            self._publish("pending", pending, call.caller.user)

    def _publish_snapshot(self, old: Registry, new: Registry) -> None:
        self.generation += 1
        before, after = _definitions(old), _definitions(new)
        names = before.keys() & after.keys()
        data = {
            "generation": self.generation,
            "tools": len(new.tools),
            "skills": len(new.skills),
            "added": sorted(after.keys() - before.keys()),
            "removed": sorted(before.keys() - after.keys()),
            "changed": sorted(name for name in names if before[name] != after[name]),
        }
        self.feed.publish("snapshot", data)
        if old.pending_changes != new.pending_changes:
            names_of_edits = [edit.name for edit in new.pending_changes]
            self.feed.publish("policy-change", {"names": names_of_edits}, None)

    def _publish_findings(self, found: tuple[Diagnostic, ...]) -> None:
        counts = Counter(str(one.severity) for one in found)
        data = {f"{kind}s": counts[kind] for kind in ("error", "warning", "hint")}
        self.feed.publish("diagnostics", data, None)


class EventStream:
    """The streams of all clients."""

    def __init__(self, source: EventSource) -> None:
        self._source = source
        self._followers = 0

    def follow(self, last: str | None, user: str | None) -> EventSourceResponse:
        """Return the stream of one client; raises ApiError if there are too many."""
        if self._followers >= MOST:
            detail = f"{MOST} clients already follow the events; try again later."
            raise ApiError(503, "too_many_streams", detail, {"retry-after": "5"})
        headers = {"cache-control": "no-store"}
        return EventSourceResponse(
            self._stream(last, user), ping=15, send_timeout=30, headers=headers,
            shutdown_grace_period=GRACE_S,
        )  # fmt: skip

    async def _stream(self, last: str | None, user: str | None) -> AsyncIterator[ServerSentEvent]:
        self._followers += 1
        feed = self._source.feed
        try:
            async with self._source.poll():
                # From this number, so that no event is lost between the greeting and the next.
                start = last or feed.latest
                hello = json.dumps({"generation": self._source.generation})
                # A client that leaves before the next event resumes here.
                own = None if last else start
                yield ServerSentEvent(hello, event="hello", id=own, retry=1000, sep="\n")
                async for event in feed.follow(start, user):
                    data = json.dumps(event.data)
                    own = feed.id_of(event.number)
                    yield ServerSentEvent(data, event=event.kind, id=own, sep="\n")
        finally:
            self._followers -= 1


def _definitions(registry: Registry) -> dict[str, tuple[str, bool, str]]:
    bound: tuple[Any, ...] = (*registry.tools.values(), *registry.skills.values())
    return {one.name: (one.hash, one.stale, one.target) for one in bound}
