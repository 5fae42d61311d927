"""A socket that listens before the server is up, so that its port is known."""

import socket

BACKLOG = 128
"""Connections that may wait."""


def bound_socket(host: str, port: int) -> socket.socket:
    """Listen at once, so that the port is known; raises OSError where the address is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only where the protocol is named. Without it every answer on a
    # kept-alive connection waits 40 ms for a delayed acknowledgement.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        # Whoever reads the printed address may connect before the server is up.
        taken.listen(BACKLOG)
    except OSError:
        taken.close()
        raise
    return taken
