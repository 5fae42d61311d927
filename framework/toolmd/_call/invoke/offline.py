"""Distinguish connection failures, which may pass, from all other errors."""

import sys
import time
from email.utils import parsedate_to_datetime
from typing import Any

API_OFFLINE = "api_offline"
_TOO_MANY = 429
_PASSING = frozenset({_TOO_MANY, 502, 503, 504})


def line_fault(error: BaseException) -> BaseException | None:
    """Return the connection failure that an error is or was caused by; None otherwise.

    Connection failures are failed or broken connections, timeouts, and 429, 502, 503 and 504.
    """
    for cause in (error, error.__cause__):
        if isinstance(cause, ConnectionError | TimeoutError) or _is_of_httpx(cause):
            return cause
    return None


def asked_wait(fault: BaseException) -> float:
    """Return the seconds that the service asks to wait (`Retry-After`); 0.0 if it does not."""
    response = getattr(fault, "response", None)
    asked = str(response.headers.get("retry-after", "")).strip() if response is not None else ""
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    try:
        return max(parsedate_to_datetime(asked).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def is_late(fault: BaseException) -> bool:
    """Return whether a connection failure is a timeout after data was sent."""
    if isinstance(fault, TimeoutError):
        return True
    httpx = _httpx()
    if httpx is None or not isinstance(fault, httpx.TimeoutException):
        return False
    return not isinstance(fault, httpx.ConnectTimeout | httpx.PoolTimeout)


def was_unsent(fault: BaseException) -> bool:
    """Return whether the other side certainly did nothing."""
    if isinstance(fault, ConnectionRefusedError):
        return True
    httpx = _httpx()
    if httpx is not None and isinstance(fault, httpx.HTTPStatusError):
        return bool(fault.response.status_code == _TOO_MANY)
    unsent = () if httpx is None else (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    return isinstance(fault, unsent)


def _is_of_httpx(error: BaseException | None) -> bool:
    httpx = _httpx()
    if httpx is None:
        return False
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in _PASSING
    # Retries don't help a request that can't be sent at all.
    wrong = httpx.UnsupportedProtocol | httpx.LocalProtocolError
    return isinstance(error, httpx.TransportError) and not isinstance(error, wrong)


def _httpx() -> Any:
    # An error of httpx exists only where httpx is imported.
    return sys.modules.get("httpx")
