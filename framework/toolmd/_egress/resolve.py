"""Resolve a name to its addresses."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a name as text; raises OSError if it has none."""


async def resolve(name: str) -> Sequence[str]:
    """Return the addresses of a name from one query to the machine's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
