"""The operations of the server itself: health and the OpenAPI document."""

from importlib.metadata import version
from typing import Any

from toolmd._http.api.operation import ApiRequest, Operation
from toolmd._http.api.snapshot_document import SnapshotDocument
from toolmd._workspace import Workspace

HEALTH = "/health"


class Service:
    """The operations of the server itself."""

    def __init__(self, workspace: Workspace, document: SnapshotDocument) -> None:
        """Store the workspace; `document` is the OpenAPI document."""
        self._workspace = workspace
        self._document = document

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation("GET", HEALTH, "health", "Report the server's health.", self._health,
                      "Health", open=True),
            Operation("GET", "/openapi.json", "openapi", "Return this document.",
                      self._document.answer, "Document", tagged=True),
        )  # fmt: skip

    async def _health(self, asked: ApiRequest) -> Any:
        del asked
        # Open to everyone: the number, but no names.
        late = len(self._workspace.overdue_imports)
        status = "degraded" if late else "ok"
        return {"status": status, "version": version("toolmd"), "overdue_imports": late}
