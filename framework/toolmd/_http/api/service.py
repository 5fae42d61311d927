"""What the server says of itself: that it is there, and what can be asked."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from toolmd._http.api.operation import ApiRequest, Operation

HEALTH = "/health"


class Service:
    """Answers about the server."""

    def __init__(self, document: Callable[[], dict[str, Any]]) -> None:
        """`document` gives the OpenAPI document of this moment."""
        self._document = document

    def operations(self) -> tuple[Operation, ...]:
        """Give the routes."""
        return (
            Operation("GET", HEALTH, "health", "Say that the server is there.", self._health,
                      "Health", open=True),
            Operation("GET", "/openapi.json", "openapi", "Give this document.", self._openapi,
                      "Document"),
        )  # fmt: skip

    async def _health(self, asked: ApiRequest) -> Any:
        del asked
        return {"status": "ok", "version": version("toolmd")}

    async def _openapi(self, asked: ApiRequest) -> Any:
        del asked
        return self._document()
