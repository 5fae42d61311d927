"""Assemble the API of a workspace: its operations, routes and event source."""

from collections.abc import Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import Route

from toolmd._auth import Sessions, Tokens
from toolmd._http.api.crises import Crises
from toolmd._http.api.document import document
from toolmd._http.api.event_stream import EventSource
from toolmd._http.api.events import Events
from toolmd._http.api.files import Files
from toolmd._http.api.operation import Operation
from toolmd._http.api.readiness import Readiness
from toolmd._http.api.records import Records
from toolmd._http.api.replies import Replies
from toolmd._http.api.runs import Background, RunAnswers
from toolmd._http.api.service import Service
from toolmd._http.api.session import PATH, Session
from toolmd._http.api.snapshot_document import SnapshotDocument
from toolmd._http.api.tools import Tools
from toolmd._workspace import Workspace

OPEN_PATHS = frozenset((PATH,))
"""Paths that need no token."""


class Api:
    """The API of a workspace; enter `running` around the server."""

    def __init__(
        self, workspace: Workspace, event_source: EventSource, tokens: Tokens, sessions: Sessions
    ) -> None:
        self.workspace = workspace
        self.background = Background(workspace)
        self.event_source = event_source
        self.readiness = Readiness(workspace)
        self.operations: Sequence[Operation] = (
            *Tools(workspace).operations(),
            *Replies(workspace).operations(),
            *RunAnswers(workspace, self.background).operations(),
            *Files(workspace).operations(),
            *Crises(workspace).operations(),
            *Records(workspace).operations(),
            *Events(event_source).operations(),
            *Session(tokens, sessions).operations(),
            *Service(
                workspace, self.readiness, SnapshotDocument(workspace, self.document)
            ).operations(),
        )

    def document(self) -> dict[str, Any]:
        """Return the OpenAPI document, with a path for each current tool and skill."""
        exported: Any = self.workspace.export("openapi")
        return document(self.operations, exported["paths"])

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [operation.route() for operation in self.operations]

    @asynccontextmanager
    async def running(self) -> Any:
        """Serve within this context, once."""
        self.event_source.feed.serve_here()
        self.event_source.listen(self.workspace)
        try:
            yield
        finally:
            self.event_source.close()
            await self.background.close()
