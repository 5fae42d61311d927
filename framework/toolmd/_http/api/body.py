"""Read the JSON body of a request, strictly and within limits."""

from typing import Any

from starlette.requests import Request

from toolmd._http.api.errors import ApiError
from toolmd._validation.strict_json import read_json as parse_json

MAX_BODY = 512 * 1024
"""The most bytes of a request; a model's reply may have 256 KiB."""
MAX_DEPTH = 64
"""The most levels of a request; a reply, or a call's arguments in it, has fewer."""


async def read_json(request: Request) -> Any:
    """Return the JSON value of a body: UTF-8, no duplicate keys, no NaN or Infinity.

    Raises:
        ApiError: The body is not such a value, or is too large.
    """
    data = await _whole(request)
    try:
        # A call or a reply with an unpaired surrogate is denied, and recorded, by the core.
        return parse_json(data.decode("utf-8"), depth=MAX_DEPTH, halves=True)
    except ValueError as error:
        detail = f"The body is not JSON: {error}"
        raise ApiError(400, "malformed_request", detail) from None


async def _whole(request: Request) -> bytes:
    body: bytes = b""
    message = await request.receive()
    while message["type"] == "http.request":
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            detail = f"The body is larger than {MAX_BODY // 1024} KiB."
            raise ApiError(413, "too_large", detail)
        if not message.get("more_body", False):
            return body
        message = await request.receive()
    raise ApiError(400, "malformed_request", "The body was cut off.")
