"""The HTTP client that a tool gets from its context: each request goes to an approved host."""

from functools import cache, partial
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

from toolmd._egress.approved import PORTS, Approved
from toolmd._egress.error import DomainNotApprovedError
from toolmd._egress.pinned import PinnedBackend
from toolmd._egress.resolve import Resolve


class GuardedTransport(httpx.AsyncHTTPTransport):
    """A transport that sends requests only to approved hosts, without a proxy."""

    def __init__(
        self, tool: str, approved: Approved, resolve: Resolve, network: Any = None
    ) -> None:
        """Send through `network`, an `httpcore.AsyncNetworkBackend` that connects to addresses."""
        super().__init__(verify=_trusted(), trust_env=False)
        self._tool = tool
        self._approved = approved
        backend = PinnedBackend(tool, approved, resolve, network or httpcore.AnyIOBackend())
        # httpx's transport accepts no backend; tests/egress compare this pool with httpx's own.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_trusted(), network_backend=backend, keepalive_expiry=5.0
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; raises DomainNotApprovedError before anything is sent."""
        check(self._tool, self._approved, request)
        return await super().handle_async_request(request)


def check(tool: str, approved: Approved, request: httpx.Request) -> None:
    """Raise DomainNotApprovedError for a request that is not allowed."""
    url = request.url
    host = url.raw_host.decode("ascii", "replace")
    if url.scheme not in PORTS:
        raise _not_approved(
            tool, approved, f"by {url.scheme[:20] or 'no scheme'}: http and https only"
        )
    if url.userinfo:
        raise _not_approved(
            tool, approved, "an address with a user in it: pass credentials separately"
        )
    port = PORTS[url.scheme] if url.port is None else url.port
    if approved.permit(host, port, url.scheme) is None:
        at = "" if port == PORTS[url.scheme] else f", port {port}"
        raise _not_approved(tool, approved, f"{host[:100] or 'an address without a host'}{at}")
    netloc = url.netloc.decode("ascii", "replace").lower()
    if request.headers.get("host", netloc).lower() != netloc:
        raise _not_approved(tool, approved, "a host other than its header Host names")
    if "sni_hostname" in request.extensions:
        raise _not_approved(tool, approved, "a host other than sni_hostname names")


def invalid_url(tool: str, approved: Approved) -> DomainNotApprovedError:
    """Return the error for an invalid URL."""
    return _not_approved(tool, approved, "what is no address")


def _not_approved(tool: str, approved: Approved, what: str) -> DomainNotApprovedError:
    if approved.told is None:
        why = f"{approved.path} names no Allowed Domains in its Limits"
    else:
        why = f"{approved.path} allows {approved.told}"
    return DomainNotApprovedError(f"{tool} may not reach {what} ({why}). Nothing was sent.")


@cache
def _trusted() -> SSLContext:
    """Load the certificate authorities once, not for each call."""
    return httpx.create_ssl_context()


class GuardedClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` that raises DomainNotApprovedError for hosts that are not approved."""

    def __init__(
        self,
        tool: str,
        approved: Approved,
        resolve: Resolve,
        network: Any = None,
        **options: Any,
    ) -> None:
        transport = GuardedTransport(tool, approved, resolve, network)
        # The environment must not supply a proxy or a password.
        super().__init__(transport=transport, trust_env=False, **options)
        self._invalid_url = partial(invalid_url, tool, approved)

    def build_request(self, *arguments: Any, **options: Any) -> httpx.Request:
        """Build a request as httpx does; raises DomainNotApprovedError for an invalid URL."""
        try:
            return super().build_request(*arguments, **options)
        except httpx.InvalidURL:
            raise self._invalid_url() from None
