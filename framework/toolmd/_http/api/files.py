"""The operations on files: diagnostics, pending edits, and exports of the tools."""

import asyncio
from typing import Any

from starlette.responses import Response

from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Operation, Text
from toolmd._http.api.runs import Nothing
from toolmd._http.api.wire import json_bytes
from toolmd._workspace import Workspace
from toolmd.errors import NotFoundError


class Files:
    """The operations on definitions from their author's view."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        names = Text("name", "Only these tools and skills; repeatable.", repeatable=True)
        return (
            Operation(
                "GET",
                "/api/diagnostics",
                "listDiagnostics",
                "List all findings.",
                self._diagnostics,
                "Diagnostics",
            ),
            Operation(
                "GET",
                "/api/changes",
                "listChanges",
                "List the pending edits that weaken a policy.",
                self._confirmation,
                "PendingChanges",
            ),
            Operation(
                "POST",
                "/api/changes/{name}/accept",
                "acceptChange",
                "Accept an edit that weakens a policy: it is live from then on.",
                self._accept,
                "PendingChange",
                Nothing,
                (400, 404, 408, 413),
            ),
            Operation(
                "GET",
                "/api/exports/{target}",
                "export",
                "Export the tools and skills for another program.",
                self._export,
                "Export",
                problems=(400, 404),
                query=(names,),
            ),
        )

    async def _diagnostics(self, asked: ApiRequest) -> Any:
        del asked
        # The first check imports every implementation.
        return await asyncio.to_thread(
            lambda: _json([diagnostic.to_dict() for diagnostic in self._workspace.diagnostics])
        )

    async def _confirmation(self, asked: ApiRequest) -> Any:
        del asked
        return [edit.to_dict() for edit in await self._workspace.changes.list()]

    async def _accept(self, asked: ApiRequest) -> Any:
        try:
            edit = await self._workspace.changes.accept(asked.name)
        except NotFoundError as error:
            raise ApiError(404, "no_held_edit", str(error)) from None
        return edit.to_dict()

    async def _export(self, asked: ApiRequest) -> Any:
        try:
            return await asyncio.to_thread(self._exported, asked.name, asked.names("name"))
        except NotFoundError as error:
            raise ApiError(404, "unknown_name", str(error)) from None

    def _exported(self, target: str, names: list[str]) -> Response:
        exported = self._workspace.exported(target, names)
        losses = [str(loss) for loss in exported.losses]
        return _json({"target": exported.target, "items": exported.items, "losses": losses})


def _json(value: Any) -> Response:
    """Return a JSON response that is not encoded on the event loop, as it may be long."""
    return Response(json_bytes(value), media_type="application/json")
