"""Answer errors as problem details (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from toolmd._http.api.wire import json_bytes

PROBLEM = "application/problem+json"


class ApiError(Exception):
    """An error of a request; its `code` is stable, its text is not."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        """Store the error; `more` are members in addition to the standard ones."""
        super().__init__(detail)
        self.status = status
        self.headers = dict(headers or {})
        self.problem = {
            "type": "about:blank",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": detail,
            "code": code,
            **more,
        }

    def answer(self) -> Response:
        """Return the response."""
        return Response(
            json_bytes(self.problem), self.status, headers=self.headers, media_type=PROBLEM
        )
