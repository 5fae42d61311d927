"""Tell failures of the line, which may pass by themselves, from all others."""

import sys
from typing import Any

API_OFFLINE = "api_offline"
_PASSING = frozenset({502, 503, 504})


def line_fault(error: BaseException) -> BaseException | None:
    """Give the failure of the line that an error is, or that caused it; None where none did.

    That is a connection that fails or breaks, a time-out, or a server's 502, 503 or 504.
    """
    for cause in (error, error.__cause__):
        if isinstance(cause, ConnectionError | TimeoutError) or _is_of_httpx(cause):
            return cause
    return None


def is_late(fault: BaseException) -> bool:
    """Tell whether a fault of the line is a time-out after something was sent."""
    if isinstance(fault, TimeoutError):
        return True
    httpx = _httpx()
    if httpx is None or not isinstance(fault, httpx.TimeoutException):
        return False
    return not isinstance(fault, httpx.ConnectTimeout | httpx.PoolTimeout)


def was_unsent(fault: BaseException) -> bool:
    """Tell whether it is certain that the other side got nothing."""
    if isinstance(fault, ConnectionRefusedError):
        return True
    httpx = _httpx()
    unsent = () if httpx is None else (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    return isinstance(fault, unsent)


def _is_of_httpx(error: BaseException | None) -> bool:
    httpx = _httpx()
    if httpx is None:
        return False
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in _PASSING
    # Of a request that can't be sent at all, no try is better than the first.
    wrong = httpx.UnsupportedProtocol | httpx.LocalProtocolError
    return isinstance(error, httpx.TransportError) and not isinstance(error, wrong)


def _httpx() -> Any:
    # Whoever raised its errors has imported it; else its import would be for nothing.
    return sys.modules.get("httpx")
