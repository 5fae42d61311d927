"""Connect to a checked address, never to a name, which could resolve differently later."""

import asyncio
from collections.abc import Iterable, Sequence

import httpcore

from toolmd._egress.addresses import Address, address_of, is_open
from toolmd._egress.approved import LOCALHOST, Approved
from toolmd._egress.error import DomainNotApprovedError
from toolmd._egress.resolve import Resolve

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

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raise DomainNotApprovedError, because a tool's file can't name a socket."""
        del path, timeout, socket_options
        raise DomainNotApprovedError(f"{self._tool} may not connect to a socket of this machine.")

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
