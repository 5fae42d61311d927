"""What the server says of itself: that it is there, and what can be asked."""

from importlib.metadata import version
from typing import Any

from toolmd._http.api.operation import ApiRequest, Operation
from toolmd._http.api.snapshot_document import SnapshotDocument
from toolmd._workspace import Workspace

HEALTH = "/health"


class Service:
    """Answers about the server."""

    def __init__(self, workspace: Workspace, document: SnapshotDocument) -> None:
        """`document` is the OpenAPI document."""
        self._workspace = workspace
        self._document = document

    def operations(self) -> tuple[Operation, ...]:
        """Give the routes."""
        return (
            Operation("GET", HEALTH, "health", "Say that the server is there.", self._health,
                      "Health", open=True),
            Operation("GET", "/openapi.json", "openapi", "Give this document.",
                      self._document.answer, "Document", tagged=True),
        )  # fmt: skip

    async def _health(self, asked: ApiRequest) -> Any:
        del asked
        # Open to all: how many, but not what.
        late = len(self._workspace.overdue_imports)
        status = "degraded" if late else "ok"
        return {"status": status, "version": version("toolmd"), "overdue_imports": late}
