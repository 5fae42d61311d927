"""Serve the stream of events: typed server-sent events that a client can resume."""

import json
from collections.abc import AsyncIterator
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent

from toolmd._http.api.errors import ApiError
from toolmd._http.api.event_stream import EventSource
from toolmd._http.api.operation import ApiRequest, Operation

MOST = 64
"""The most clients of the stream."""
HEARTBEAT_S = 15
"""The time without an event after which a comment is sent, in seconds."""
SEND_S = 30
"""The time after which a client that reads nothing is disconnected, in seconds."""

KINDS = {
    "hello": ("`{generation}`", "The first event; the snapshot's number since the start."),
    "snapshot": (
        "`{generation, tools, skills, added, removed, changed}`",
        "A new snapshot is live: how many there are, and the names that changed.",
    ),
    "diagnostics": (
        "`{errors, warnings, hints}`",
        "How many findings there are; `GET /api/diagnostics` lists them. For the operator.",
    ),
    "policy-change": (
        "`{names}`",
        "The pending edits that weaken a policy have changed. For the operator.",
    ),
    "call": (
        "`{tool, outcome, tool_call_id?, code?}`",
        "A call ended, on any interface.",
    ),
    "pending": (
        "`{id, state, tool}`",
        "A call is `pending`; was `approved`, `edited`, `rejected`, `answered`; or is `closed`.",
    ),
    "run": ("`{run_id, skill, state}`", "A run changed its state."),
    "run-step": (
        "`{run_id, kind, skill, step, title, text}`",
        "`started`, `skipped`, `waiting`, `done`, `failed`, `undone`, `kept` or `progress`.",
    ),
    "resync": ("`{}`", "Events were lost: read everything again."),
}
"""The kinds of events: their `data`, and when they are sent."""


class Events:
    """The operation that serves the feed."""

    def __init__(self, event_source: EventSource) -> None:
        self._feed = event_source.feed
        self._event_source = event_source
        self._followers = 0

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation("GET", "/api/events", "followEvents", "Follow the events.", self._follow,
                      "Events", problems=(503,), kind="text/event-stream", details=EVENTS),
        )  # fmt: skip

    async def _follow(self, asked: ApiRequest) -> Any:
        if self._followers >= MOST:
            detail = f"{MOST} clients already follow the events; try again later."
            raise ApiError(503, "too_many_streams", detail, headers={"retry-after": "5"})
        last = asked.request.headers.get("last-event-id")
        return EventSourceResponse(
            self._stream(last, asked.theirs),
            ping=HEARTBEAT_S,
            send_timeout=SEND_S,
            headers={"cache-control": "no-store"},
        )

    async def _stream(self, last: str | None, user: str | None) -> AsyncIterator[ServerSentEvent]:
        self._followers += 1
        try:
            async with self._event_source.followed():
                async for event in self._sent(last, user):
                    yield event
        finally:
            self._followers -= 1

    async def _sent(self, last: str | None, user: str | None) -> AsyncIterator[ServerSentEvent]:
        # Follow from this number, so that no event is lost between the greeting and the next.
        start = last or self._feed.latest
        following = self._feed.follow(start, user)
        hello = json.dumps({"generation": self._event_source.generation})
        # A client that leaves before the next event resumes here; one that resumes has an id.
        yield ServerSentEvent(
            hello, event="hello", id=None if last else start, retry=1000, sep="\n"
        )
        async for event in following:
            yield ServerSentEvent(
                json.dumps(event.data, ensure_ascii=True),
                event=event.kind,
                id=self._feed.id_of(event.number),
                sep="\n",
            )


EVENTS = (
    "Server-sent events; `data` is a JSON object. `hello` comes first. `Last-Event-ID` resumes"
    " the stream; `resync` means that events were lost, so read everything"
    " again. Of other processes of the store it has `pending` and `run`, within about a second and"
    " perhaps twice; `call`, `run-step`, `snapshot` and the like are of the process that serves it."
    " See docs/reference/http.md for each event."
)
