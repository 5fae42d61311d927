"""The HTTP client of a tool: it connects only to approved hosts, at addresses that it checked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache, partial
from ssl import SSLContext
from typing import Any

import httpcore
import httpx

from toolmd._egress.approved import (
    LOCALHOST,
    PORTS,
    Address,
    Approved,
    DomainNotApprovedError,
    address_of,
    is_open,
)

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a name as text; raises OSError if it has none."""


async def resolve(name: str) -> Sequence[str]:
    """Return the addresses of a name from one query to the machine's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


_AT_HOME = ("127.0.0.1", "::1")
"""The addresses of `localhost`; the resolver is not asked."""


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """A network backend for approved hosts; it resolves a name once for each connection."""

    def __init__(
        self,
        tool: str,
        approved: Approved,
        resolve: Resolve,
        network: httpcore.AsyncNetworkBackend,
    ) -> None:
        """Connect through `network`, which receives only addresses."""
        self._tool = tool
        self._approved = approved
        self._resolve = resolve
        self._network = network

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first of the host's addresses that answers.

        Raises DomainNotApprovedError if one of them is not public, unless the host itself was
        approved; and the errors of httpcore.
        """
        addresses = await self._addresses(host, port, timeout)
        for address in addresses[:-1]:
            try:
                return await self._network.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.connect_tcp(
            addresses[-1], port, timeout, local_address, socket_options
        )

    async def sleep(self, seconds: float) -> None:
        """Wait between the attempts of httpcore."""
        await self._network.sleep(seconds)

    async def _addresses(self, host: str, port: int, seconds: float | None) -> Sequence[str]:
        permit = self._approved.permit(host, port)
        if permit is None:
            raise DomainNotApprovedError(f"{self._tool} may not reach {host[:100]}, port {port}.")
        if address_of(host) is not None:
            return (host,)
        if host == LOCALHOST:
            return _AT_HOME
        try:
            async with asyncio.timeout(seconds):
                found = await self._resolve(host)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"{host} was not looked up in time") from error
        except OSError as error:
            raise httpcore.ConnectError(f"{host} can't be looked up") from error
        read = [address_of(text) for text in found]
        if not read:
            raise httpcore.ConnectError(f"{host} has no address")
        if not permit.private and not all(_may_connect(address) for address in read):
            raise DomainNotApprovedError(
                f"{self._tool} may not reach {host}: the name leads to an address of a private "
                "network. Somebody who means that names the address itself."
            )
        return [str(address) for address in read if address is not None]


def _may_connect(address: Address | None) -> bool:
    return address is not None and is_open(address)


class GuardedTransport(httpx.AsyncHTTPTransport):
    """A transport that sends requests only to approved hosts, without a proxy."""

    def __init__(
        self, tool: str, approved: Approved, resolve: Resolve, network: Any = None
    ) -> None:
        """Send through `network`, an `httpcore.AsyncNetworkBackend` that connects to addresses."""
        super().__init__(verify=_load_authorities(), trust_env=False)
        self._tool = tool
        self._approved = approved
        backend = PinnedBackend(tool, approved, resolve, network or httpcore.AnyIOBackend())
        # httpx's transport accepts no backend; tests/egress compare this pool with httpx's own.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_load_authorities(), network_backend=backend, keepalive_expiry=5.0
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
    if approved.text is None:
        why = f"{approved.path} names no Allowed Domains in its Limits"
    else:
        why = f"{approved.path} allows {approved.text}"
    return DomainNotApprovedError(f"{tool} may not reach {what} ({why}). Nothing was sent.")


@cache
def _load_authorities() -> SSLContext:
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
