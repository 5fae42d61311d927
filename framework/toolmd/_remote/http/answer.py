"""Read the answer of a service: bounded, parsed, and without the service's credentials."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from toolmd.errors import ToolError

MAX_ANSWER = 8 << 20
"""The most bytes of an answer; a larger one is a failure."""
_MAX_QUOTED = 500
"""The most characters of an answer that a failure quotes."""
_REDIRECTS = range(300, 400)
_UNAVAILABLE = frozenset({502, 503, 504})
_TOO_MANY = 429

Hide = Callable[[str], str]


async def read_answer(response: httpx.Response, hide: Hide, *, repeatable: bool) -> Any:
    """Return the JSON value or the text of an answer; None for an empty one.

    Raises ToolError for a status other than 2xx, and for an answer that is too large or not text.
    """
    if not response.is_success:
        await _fail(response, hide, repeatable=repeatable)
    data = await _bytes(response, MAX_ANSWER)
    if len(data) > MAX_ANSWER:
        raise ToolError(f"The service answered with more than {MAX_ANSWER:,} bytes.")
    if not data:
        return None
    kind = _kind(response)
    try:
        text = hide(data.decode())
        if kind == "application/json" or kind.endswith("+json"):
            return json.loads(text, parse_constant=_reject)
    except UnicodeDecodeError:
        message = f"The service answered with {len(data):,} bytes of {kind}, which is not text."
        raise ToolError(message) from None
    except (ValueError, RecursionError):
        raise ToolError("The service answered with JSON that can't be read.") from None
    return text


async def _fail(response: httpx.Response, hide: Hide, *, repeatable: bool) -> None:
    status = response.status_code
    if status in _REDIRECTS:
        message = f"The service answered {status}, a redirect, which is not followed"
        raise ToolError(f"{message}: write the final path in Implemented By.")
    data = await _bytes(response, _MAX_QUOTED * 4)
    quoted = " ".join(hide(data.decode(errors="replace")).split())[:_MAX_QUOTED]
    quoted = "".join(letter for letter in quoted if letter.isprintable())
    message = f"The service answered {status}{': ' if quoted else ''}{quoted}"
    if status not in {_TOO_MANY, *_UNAVAILABLE}:
        raise ToolError(message)
    if status != _TOO_MANY and not repeatable:
        message += " (It may have taken effect all the same: look before calling it again.)"
    # The pipeline retries by the cause.
    code = "rate_limited" if status == _TOO_MANY else ToolError.CODE
    raise ToolError(message, code=code) from httpx.HTTPStatusError(
        str(status), request=response.request, response=response
    )


async def _bytes(response: httpx.Response, most: int) -> bytes:
    """Return at most one byte more than `most`; the rest is not read."""
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        # A few compressed bytes can hold gigabytes; the request asked for none.
        raise ToolError("The service compressed its answer, although the request forbids it.")
    data = bytearray()
    async for chunk in response.aiter_raw(64 << 10):
        data += chunk
        if len(data) > most:
            break
    return bytes(data[: most + 1])


def _kind(response: httpx.Response) -> str:
    whole: str = response.headers.get("content-type", "an unknown type")
    return whole.partition(";")[0].strip().lower()[:100]


def _reject(word: str) -> Any:
    raise ValueError(word)
