"""Hold each request, those that a redirect makes too, against what is approved."""

from functools import cache
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

from toolmd._egress.approved import PORTS, Approved
from toolmd._egress.error import DomainNotApprovedError
from toolmd._egress.pinned import PinnedBackend
from toolmd._egress.resolve import Resolve


class GuardedTransport(httpx.AsyncHTTPTransport):
    """Sends requests to approved hosts; there is no proxy and no other way around."""

    def __init__(
        self, tool: str, approved: Approved, resolve: Resolve, network: Any = None
    ) -> None:
        """`network` makes the connections, to addresses: an `httpcore.AsyncNetworkBackend`."""
        super().__init__(verify=_trusted(), trust_env=False)
        self._tool = tool
        self._approved = approved
        backend = PinnedBackend(tool, approved, resolve, network or httpcore.AnyIOBackend())
        # The face of the transport takes no backend; tests/egress hold this to the real one.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_trusted(), network_backend=backend, keepalive_expiry=5.0
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; raises DomainNotApprovedError before anything is sent."""
        check(self._tool, self._approved, request)
        return await super().handle_async_request(request)


def check(tool: str, approved: Approved, request: httpx.Request) -> None:
    """Raise DomainNotApprovedError for a request that may not be sent."""
    url = request.url
    host = url.raw_host.decode("ascii", "replace")
    if url.scheme not in PORTS:
        raise _refused(tool, approved, f"by {url.scheme[:20] or 'no scheme'}: http and https only")
    if url.userinfo:
        raise _refused(tool, approved, "an address with a user in it: hand on credentials apart")
    port = PORTS[url.scheme] if url.port is None else url.port
    if approved.permit(host, port, url.scheme) is None:
        at = "" if port == PORTS[url.scheme] else f", port {port}"
        raise _refused(tool, approved, f"{host[:100] or 'an address without a host'}{at}")
    netloc = url.netloc.decode("ascii", "replace").lower()
    if request.headers.get("host", netloc).lower() != netloc:
        raise _refused(tool, approved, "a host by another one's name: the header Host differs")
    if "sni_hostname" in request.extensions:
        raise _refused(tool, approved, "a host by another one's name: sni_hostname is set")


def refused_address(tool: str, approved: Approved) -> DomainNotApprovedError:
    """Refuse what is no address at all."""
    return _refused(tool, approved, "what is no address")


def _refused(tool: str, approved: Approved, what: str) -> DomainNotApprovedError:
    if approved.told is None:
        why = f"{approved.path} names no Allowed Domains in its Limits"
    else:
        why = f"{approved.path} allows {approved.told}"
    return DomainNotApprovedError(f"{tool} may not reach {what} ({why}). Nothing was sent.")


@cache
def _trusted() -> SSLContext:
    """Read the authorities once, not for each call."""
    return httpx.create_ssl_context()
