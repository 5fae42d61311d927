"""Build a JSON document once for each snapshot, off the event loop, with an ETag."""

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

from starlette.responses import Response

from toolmd._http.api.operation import ApiRequest
from toolmd._http.api.wire import json_bytes
from toolmd._types.registry import Registry
from toolmd._workspace import Workspace


class _Made(NamedTuple):
    registry: Registry
    body: bytes
    tag: str


class SnapshotDocument:
    """The answer of an operation, which stays the same as long as the snapshot does."""

    def __init__(self, workspace: Workspace, build: Callable[[], Any]) -> None:
        """Store `build`, which returns the snapshot's JSON value and is called in a thread."""
        self._workspace = workspace
        self._build = build
        self._made: _Made | None = None
        self._building = asyncio.Lock()

    async def answer(self, asked: ApiRequest) -> Response:
        """Return the document, or 304 if the client has it."""
        made = await self._present()
        headers = {"etag": made.tag, "cache-control": "private, no-cache"}
        known = asked.request.headers.get("if-none-match", "")
        if made.tag in {tag.strip().removeprefix("W/") for tag in known.split(",")}:
            return Response(status_code=304, headers=headers)
        return Response(made.body, media_type="application/json", headers=headers)

    async def _present(self) -> _Made:
        made = self._made
        if made is not None and made.registry is self._workspace.registry:
            return made
        async with self._building:
            made = self._made
            while made is None or made.registry is not self._workspace.registry:
                # Build again if a reload came in between: an answer must not mix two snapshots.
                made = self._made = await asyncio.to_thread(self._make, self._workspace.registry)
        return made

    def _make(self, registry: Registry) -> _Made:
        body = json_bytes(self._build())
        return _Made(registry, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
