"""Look up the addresses of a name."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Gives the addresses of a name, as text; raises OSError where there are none."""


async def resolve(name: str) -> Sequence[str]:
    """Ask the machine's resolver, once."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
