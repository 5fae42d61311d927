"""The operations on conversations with a crisis flag: list them and clear one."""

from typing import Any

from pydantic import Field

from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Body, Operation
from toolmd._workspace import Workspace
from toolmd.errors import NotFoundError


class ClearBody(Body):
    """The conversation whose crisis flag an operator clears."""

    conversation: str = Field(description="The host's name for the conversation.")
    user: str | None = Field(None, description="Its user; null if nobody was signed in.")


class Crises:
    """The crisis flags from an operator's view."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation(
                "GET",
                "/api/crises",
                "listCrises",
                "List the conversations with a crisis flag, oldest first.",
                self._list,
                "Crises",
            ),
            Operation(
                "POST",
                "/api/crises/clear",
                "clearCrisis",
                "Clear the crisis flag of a conversation: its calls run again.",
                self._clear,
                "Cleared",
                ClearBody,
                (400, 404, 408, 413),
            ),
        )

    async def _list(self, asked: ApiRequest) -> Any:
        del asked
        return [crisis.to_dict() for crisis in await self._workspace.crises.list()]

    async def _clear(self, asked: ApiRequest) -> Any:
        body = asked.body
        assert isinstance(body, ClearBody)
        try:
            await self._workspace.crises.clear(body.conversation, user=body.user)
        except NotFoundError as error:
            raise ApiError(404, "no_crisis", str(error)) from None
        return {"conversation": body.conversation, "user": body.user}
