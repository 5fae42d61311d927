"""Start a browser's session: exchange the token for a cookie."""

from typing import Any

from pydantic import Field
from starlette.responses import Response

from toolmd._auth import Sessions, Tokens
from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Body, Operation

PATH = "/api/session"


class SessionBody(Body):
    """The token of a browser."""

    token: str = Field(max_length=4096, description="The token of the printed link.")


class Session:
    """The operation that starts sessions."""

    def __init__(self, tokens: Tokens, sessions: Sessions) -> None:
        self._tokens = tokens
        self._sessions = sessions

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation("POST", PATH, "beginSession", "Start a browser's session.", self._begin, "",
                      SessionBody, (400, 401, 408, 413), status=204),
        )  # fmt: skip

    async def _begin(self, asked: ApiRequest) -> Any:
        passed = self._tokens.of(asked.body.token)
        if passed is None:
            detail = "The token is not valid; the server prints a new one at each start."
            raise ApiError(401, "unauthorized", detail, headers={"www-authenticate": "Bearer"})
        return Response(status_code=204, headers={"set-cookie": self._sessions.begin(passed)})
