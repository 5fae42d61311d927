"""The stream of events: server-sent, typed, taken up where a client left off."""

import json
from collections.abc import AsyncIterator
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent

from toolmd._http.api.errors import ApiError
from toolmd._http.api.event_stream import EventSource
from toolmd._http.api.operation import ApiRequest, Operation

MOST = 64
"""Clients that may follow at one time."""
HEARTBEAT_S = 15
"""A comment goes out when nothing else did for so many seconds."""
SEND_S = 30
"""A client that takes nothing for so many seconds is let go."""

KINDS = {
    "hello": ("`{generation}`", "First of all; the snapshot's number since the start."),
    "snapshot": (
        "`{generation, tools, skills, added, removed, changed}`",
        "A new snapshot is live: how many there are, and the names that changed.",
    ),
    "diagnostics": (
        "`{errors, warnings, hints}`",
        "How many findings there are now; `GET /api/diagnostics` has them. For the operator.",
    ),
    "policy-change": (
        "`{names}`",
        "The edits that loosen a policy and wait have changed. For the operator.",
    ),
    "call": (
        "`{tool, outcome, tool_call_id?, code?}`",
        "A call came to its result, whichever door it came through.",
    ),
    "pending": (
        "`{id, state, tool}`",
        "A call is held (`pending`); or `approved`, `edited`, `rejected`, `responded`.",
    ),
    "run": ("`{run_id, skill, state}`", "A run came to another state."),
    "run-step": (
        "`{run_id, kind, skill, step, title, text}`",
        "`started`, `skipped`, `waiting`, `done`, `failed`, `undone`, `kept` or `progress`.",
    ),
    "resync": ("`{}`", "Events were lost: look at everything anew."),
}
"""The kinds of events: their `data`, and when they come."""


class Events:
    """Serves the feed."""

    def __init__(self, event_source: EventSource) -> None:
        self._feed = event_source.feed
        self._event_source = event_source
        self._followers = 0

    def operations(self) -> tuple[Operation, ...]:
        """Give the routes."""
        return (
            Operation("GET", "/api/events", "followEvents", "Follow what happens.", self._follow,
                      "Events", problems=(503,), kind="text/event-stream", details=EVENTS),
        )  # fmt: skip

    async def _follow(self, asked: ApiRequest) -> Any:
        if self._followers >= MOST:
            detail = f"{MOST} clients follow already."
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
            # From here on, so that nothing falls between the greeting and what follows it.
            following = self._feed.follow(last or self._feed.latest, user)
            hello = json.dumps({"generation": self._event_source.generation})
            yield ServerSentEvent(hello, event="hello", retry=1000, sep="\n")
            async for event in following:
                yield ServerSentEvent(
                    json.dumps(event.data, ensure_ascii=True),
                    event=event.kind,
                    id=self._feed.id_of(event.number),
                    sep="\n",
                )
        finally:
            self._followers -= 1


EVENTS = (
    "Server-sent events; `data` is a JSON object. `hello` comes first. `Last-Event-ID` takes the"
    " stream up where it was left; `resync` says that events were lost, so look at everything"
    " anew. See docs/reference/http.md for each event."
)
