"""The shared parts of `dev` and `serve` over HTTP: the token, the port, and the server."""

import errno
import os
import re
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import err

PORT = 8787
"""The default port."""
NEXT_PORTS = 20
"""The number of ports to try after the default one."""


class Told(NamedTuple):
    """Where the end of a server is shown, and who may force it."""

    tell: Callable[[str], None]
    by_parent: bool = False
    """Whether a second signal is for the parent of this process to act on."""


ON_STDERR = Told(err)


class Entrance(NamedTuple):
    """The address that a server listens at, and the tokens that it accepts."""

    listening: socket.socket
    port: int
    addresses: Any
    tokens: Any
    key: bytes | None = None
    """The secret that several processes of one address share."""


def own_token(caller: tuple[str | None, Mapping[str, str]], *, known: bool) -> str | None:
    """Return the token of this start; None if the settings list tokens.

    `caller` are the user and the context of the command line.
    """
    from toolmd._auth import fresh_token
    from toolmd._auth.tokens import SHORTEST

    given = os.environ.get("TOOLMD_TOKEN")
    if known:
        if given is not None or any(caller):
            what = "the settings name tokens (serve.tokens), and each names its user"
            stop(ExitCode.USAGE, what, "omit --user, --context and TOOLMD_TOKEN")
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


def first_request(url: str, token: str | None) -> str:
    """Return a command that lists the tools over HTTP.

    Args:
        url: The address of the server.
        token: The token of this start; None if the settings list tokens.
    """
    shown = "$TOOLMD_TOKEN" if "TOOLMD_TOKEN" in os.environ else token or "TOKEN"
    return f'curl -H "Authorization: Bearer {shown}" {url}/api/tools'


def listen(host: str, port: int | None) -> socket.socket:
    """Bind the port, or without one the first free port from PORT on; stop if there is none."""
    from toolmd._auth.authentication import with_port
    from toolmd._auth.server import bound_socket

    wanted = PORT if port is None else port
    tries = NEXT_PORTS if port is None else 1
    for number in range(wanted, wanted + tries):
        try:
            bound = bound_socket(host, number)
        except OSError as error:
            if number == wanted + tries - 1:
                place = with_port(host, wanted)
                taken = error.errno == errno.EADDRINUSE
                help_ = "another program uses that port; --port 0 picks a free one"
                if not taken:
                    help_ = "--host needs an address of this machine, such as 127.0.0.1"
                stop(ExitCode.NOT_FOUND, f"{place}: {error.strerror}", help_)
            continue
        if number != wanted:
            err(f"note: port {wanted} is in use, so the port is {number}")
        return bound
    raise AssertionError("the last try returns or ends")


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server until it ends, on uvloop where that is installed."""
    import asyncio

    try:
        from uvloop import new_event_loop
    except ImportError:
        asyncio.run(serving)
        return
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(serving)


async def serve_workspace(
    workspace: Any,
    place: Entrance,
    event_source: Any,
    *,
    mcp_at_once: bool = False,
    ready: Callable[[], None] = lambda: None,
    started: Callable[[], None] = lambda: None,
    told: Told = ON_STDERR,
) -> None:
    """Serve API, console and MCP until a signal.

    `ready` is called in the serving loop before anything is served, `started` after that.
    """
    from toolmd._auth.server import Drain, serve
    from toolmd._cli.server.mcp_app import McpApp
    from toolmd._cli.server.resuming import Resuming
    from toolmd._http.app import Server
    from toolmd._workspace.gauges import watch_state

    mcp = McpApp(workspace, at_once=mcp_at_once, key=place.key)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with mcp.running():
            started()
            yield

    server = Server(
        workspace,
        event_source,
        addresses=place.addresses,
        tokens=place.tokens,
        port=place.port,
        key=place.key,
        beside=[(mcp.route(), running)],
    )

    def begin() -> None:
        server.drain()
        mcp.close()

    ready()
    watch_state(workspace)
    resuming = Resuming(workspace)
    settings = workspace.settings.serve
    drain = Drain(begin, resuming.stop, *told)
    await serve(server.app, place.listening, settings=settings, drain=drain)
    await resuming.ended()
