"""Open a listening socket before the server is up, so that its port is known."""

import socket

BACKLOG = 128
"""The most connections that may wait to be accepted."""


def bound_socket(host: str, port: int) -> socket.socket:
    """Open a socket that listens at once; raise OSError if the address is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is named. Without it, every answer on a
    # kept-alive connection waits 40 ms for a delayed acknowledgement.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        # A client may connect as soon as it sees the printed address, before the server is up.
        taken.listen(BACKLOG)
    except OSError:
        taken.close()
        raise
    return taken
