"""Read the JSON body of a request, strictly and within limits."""

import json
from typing import Any

from starlette.requests import ClientDisconnect, Request

from toolmd._http.api.errors import ApiError

MAX_BODY = 512 * 1024
"""The most bytes of a request; a model's reply may have 256 KiB."""


async def read_json(request: Request) -> Any:
    """Return the JSON value of a body: UTF-8, no duplicate keys, no NaN or Infinity.

    Raises:
        ApiError: The body is not such a value, or is too large.
    """
    data = await _whole(request)
    try:
        return json.loads(
            data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except RecursionError:
        raise ApiError(400, "malformed_request", "The body is nested too deeply.") from None
    except ValueError as error:
        detail = f"The body is not JSON: {error}"
        raise ApiError(400, "malformed_request", detail) from None


async def _whole(request: Request) -> bytes:
    parts = bytearray()
    try:
        async for part in request.stream():
            parts += part
            if len(parts) > MAX_BODY:
                detail = f"The body is larger than {MAX_BODY // 1024} KiB."
                raise ApiError(413, "too_large", detail)
    except ClientDisconnect:
        raise ApiError(400, "malformed_request", "The body was cut off.") from None
    return bytes(parts)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:64]!r} appears twice")
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")
