"""The operations of the server itself: its probes and the OpenAPI document."""

from typing import Any

from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Operation
from toolmd._http.api.readiness import Readiness
from toolmd._http.api.snapshot_document import SnapshotDocument
from toolmd._workspace import Workspace

HEALTH, READY = "/health", "/ready"
PROBES = frozenset((HEALTH, READY))
"""Paths for balancers: open to everyone, so their answers contain nothing of the project."""


class Service:
    """The operations of the server itself."""

    def __init__(
        self, workspace: Workspace, readiness: Readiness, document: SnapshotDocument
    ) -> None:
        """Store the workspace; `document` is the OpenAPI document."""
        self._workspace = workspace
        self._readiness = readiness
        self._document = document

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation("GET", HEALTH, "health", "Report that the process lives.", self._health,
                      "Health", details=LIVES),
            Operation("GET", READY, "ready", "Report whether calls are served.", self._ready,
                      "Ready", problems=(503,), details=SERVES),
            Operation("GET", "/openapi.json", "openapi", "Return this document.",
                      self._document.answer, "Document", tagged=True),
        )  # fmt: skip

    async def _health(self, asked: ApiRequest) -> Any:
        del asked
        return {"status": "degraded" if self._workspace.overdue_imports else "ok"}

    async def _ready(self, asked: ApiRequest) -> Any:
        del asked
        if (reason := await self._readiness.denial()) is not None:
            raise ApiError(503, *reason)
        return {"status": "ready"}


LIVES = "`degraded` means that an import exceeded `import_timeout`; `toolmd check` names it."
SERVES = (
    "A balancer sends requests where it is 200. It is 503 from the signal to end on, and while the"
    " store can't be reached."
)
