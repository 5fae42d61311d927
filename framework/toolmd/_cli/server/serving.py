"""What `dev` and `serve` over HTTP share: the token, the port, and the server put together."""

import errno
import os
import re
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import stop
from toolmd._cli.terminal.screen import err

PORT = 8787
"""Where a server listens if nothing else is said."""
NEXT_PORTS = 20
"""How many further ports are tried where that one is taken."""


class Entrance(NamedTuple):
    """Where a server listens, and who may come in."""

    listening: socket.socket
    port: int
    addresses: Any
    tokens: Any


def own_token(caller: Any, *, known: bool) -> str | None:
    """Give the token of this start; None where the settings name those who may come in."""
    from toolmd._auth import fresh_token
    from toolmd._auth.tokens import SHORTEST

    given = os.environ.get("TOOLMD_TOKEN")
    if known:
        if given is not None or any(caller[:2]):
            what = "the settings name tokens (serve.tokens), and each names its user"
            stop(ExitCode.USAGE, what, "leave out --user, --context and TOOLMD_TOKEN")
        return None
    if given is None:
        return fresh_token()
    if len(given) < SHORTEST or not re.fullmatch(r"[\x21-\x7e]+", given):
        stop(
            ExitCode.USAGE,
            f"TOOLMD_TOKEN must be at least {SHORTEST} visible ASCII characters",
            'python -c "import secrets; print(secrets.token_urlsafe(32))" makes one',
        )
    return given


def listen(host: str, port: int | None) -> socket.socket:
    """Bind the port, or where none was named the first that is free from PORT on; or end."""
    from toolmd._auth.addresses import with_port
    from toolmd._auth.sockets import bound_socket

    wanted = PORT if port is None else port
    tries = NEXT_PORTS if port is None else 1
    for number in range(wanted, wanted + tries):
        try:
            bound = bound_socket(host, number)
        except OSError as error:
            if number == wanted + tries - 1:
                place = with_port(host, wanted)
                taken = error.errno == errno.EADDRINUSE
                help_ = "another program listens there; --port 0 takes a port that is free"
                if not taken:
                    help_ = "--host takes an address of this machine, such as 127.0.0.1"
                stop(ExitCode.NOT_FOUND, f"{place}: {error.strerror}", help_)
            continue
        if number != wanted:
            err(f"note: port {wanted} is taken, so it is {number}")
        return bound
    raise AssertionError("the last try returns or ends")


async def serve_workspace(
    workspace: Any,
    place: Entrance,
    event_source: Any,
    *,
    mcp_at_once: bool = False,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve API, console and MCP until the process is told to end; `ready` in the serving loop."""
    import asyncio

    from toolmd._auth.server import serve
    from toolmd._cli.server.mcp_app import McpApp
    from toolmd._http.app import Server

    dispatcher = McpApp(workspace, at_once=mcp_at_once)
    server = Server(
        workspace,
        event_source,
        addresses=place.addresses,
        tokens=place.tokens,
        port=place.port,
        beside=[(dispatcher.route(), dispatcher.running)],
    )

    def close() -> None:
        event_source.feed.close()
        dispatcher.close()

    ready()
    taking_up = asyncio.create_task(workspace.runs.start())
    settings = workspace.settings.serve
    await serve(server.app, place.listening, settings=settings, close=close, tell=err)
    await taking_up
