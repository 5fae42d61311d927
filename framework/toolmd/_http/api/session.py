"""Begin a browser's session: the token is shown once, and a cookie stands for it from then on."""

from typing import Any

from pydantic import Field
from starlette.responses import Response

from toolmd._auth import Sessions, Tokens
from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Body, Operation

PATH = "/api/session"


class SessionBody(Body):
    """What a browser shows once."""

    token: str = Field(max_length=4096, description="As the link that was printed holds it.")


class Session:
    """Answers who shows a token."""

    def __init__(self, tokens: Tokens, sessions: Sessions) -> None:
        self._tokens = tokens
        self._sessions = sessions

    def operations(self) -> tuple[Operation, ...]:
        """Give the routes."""
        return (
            Operation("POST", PATH, "beginSession", "Begin a browser's session.", self._begin, "",
                      SessionBody, (400, 401, 408, 413), status=204, open=True),
        )  # fmt: skip

    async def _begin(self, asked: ApiRequest) -> Any:
        passed = self._tokens.of(asked.body.token)
        if passed is None:
            detail = "This is not the token of this start."
            raise ApiError(401, "unauthorized", detail, headers={"www-authenticate": "Bearer"})
        return Response(status_code=204, headers={"set-cookie": self._sessions.begin(passed)})
