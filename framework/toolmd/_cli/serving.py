"""Serve a project over stdio or HTTP: the token, the port, reloads, runs and the end."""

import errno
import os
import re
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from functools import partial
from typing import Any, NamedTuple

from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import err
from toolmd._types.call import Caller
from toolmd.errors import ToolmdError


def end_at_interrupt(close: Callable[[], None]) -> None:
    """Call `close` in a thread at SIGINT or SIGTERM, then exit; exit at once at a second signal.

    This replaces the event loop's own handler, so call it after the loop has started.
    """

    def ended(*_: object) -> None:
        for number in _SIGNALS:
            signal.signal(number, lambda *_: os._exit(ExitCode.INTERRUPTED))
        threading.Thread(target=closing, daemon=True).start()

    def closing() -> None:
        try:
            close()
        finally:
            os._exit(0)

    for number in _SIGNALS:
        signal.signal(number, ended)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def following(workspace: Any, *, follow: bool) -> AbstractContextManager[Any]:
    """Reload when files change, if `follow` is True."""
    if not follow:
        return nullcontext()
    from toolmd._watch import Watcher

    return Watcher(workspace)


def reload_at_hangup(workspace: Any) -> None:
    """Reload the definitions at SIGHUP, on systems with that signal."""
    import asyncio

    loop = asyncio.get_running_loop()
    under_way: set[Any] = set()

    def start() -> None:
        task = loop.create_task(workspace.areload())
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, start)


class Resuming:
    """Starts the engine of runs when a durable skill or a kept run is there.

    A server without them does not import the engine and has none of its threads.
    """

    def __init__(self, workspace: Any) -> None:
        """Begin to watch; call it in the serving loop."""
        import asyncio

        self._workspace = workspace
        self._changed = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._end = workspace.on_change(lambda *_: loop.call_soon_threadsafe(self._changed.set))
        self._is_starting = False
        self._task = loop.create_task(self._run())

    async def stop(self, limit_s: float) -> None:
        """Stop the runs once their engine has started: on a closed store it would try for long."""
        import asyncio

        until = time.monotonic() + limit_s
        self._end()
        if not self._is_starting:
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=limit_s)
        await self._workspace.runs.stop(max(until - time.monotonic(), 0.1))

    async def ended(self) -> None:
        """Wait for the start, and raise what it raised."""
        import asyncio

        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while not await self._workspace.runs.may_be_due():
            await self._changed.wait()
            self._changed.clear()
        self._is_starting = True
        await self._workspace.runs.start()


class McpApp:
    """An ASGI app for `/mcp`; enter `running` around the server."""

    def __init__(self, workspace: Any, *, at_once: bool = False, key: bytes | None = None) -> None:
        """Prepare to serve `workspace`; `key` is the secret that several processes share.

        The SDK takes a second to import, so it is imported at the first request, or at the start
        if `at_once` is True.
        """
        import asyncio

        self._workspace = workspace
        self._at_once = at_once
        self._key = key
        self._wanted = asyncio.Event()
        self._decided = asyncio.Event()
        self._closing = asyncio.Event()
        self._endpoint: Any = None
        self._server: Any = None
        self._problem = ""

    def route(self) -> Any:
        """Return the route of this app."""
        from starlette.routing import Route

        return Route("/mcp", endpoint=self)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within this context, once."""
        import asyncio

        end = self._workspace.on_change(lambda *_: self.changed_soon())
        if self._at_once:
            self._wanted.set()
        # The task that opens the SDK's contexts must also close them.
        task = asyncio.get_running_loop().create_task(self._serve())
        try:
            if self._at_once:
                await self._decided.wait()
            yield
        finally:
            end()
            self._wanted.set()
            self._closing.set()
            await task

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one authenticated request."""
        self._wanted.set()
        await self._decided.wait()
        if self._endpoint is None:
            from toolmd._http.operations import ApiError

            answer = ApiError(503, "no_mcp", self._problem).answer()
            await answer(scope, receive, send)
            return
        await self._endpoint(scope, receive, send)

    def changed_soon(self) -> None:
        """Notify the clients of a new snapshot; any thread may call this."""
        if self._server is not None:
            self._server.changed_soon()

    def close(self) -> None:
        """End every stream."""
        if self._server is not None:
            self._server.changes.close()

    async def _serve(self) -> None:
        import asyncio

        await self._wanted.wait()
        if self._closing.is_set():
            return
        try:
            endpoint = await asyncio.to_thread(_load)
        except ToolmdError as error:
            self._problem = str(error)
            self._decided.set()
            return
        server_type, endpoint_type, who = endpoint
        self._server = server_type(self._workspace, who, self._key)
        opened = endpoint_type(self._server, stateless=self._key is not None)
        async with opened.running():
            self._endpoint = opened
            self._decided.set()
            await self._closing.wait()


def _load() -> tuple[Any, Any, Any]:
    from toolmd._mcp import require_sdk

    require_sdk()
    from toolmd._mcp.callers import TokenCaller
    from toolmd._mcp.http import McpEndpoint
    from toolmd._mcp.server import McpServer

    return McpServer, McpEndpoint, TokenCaller()


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


EACH_HAS_RIGHTS = (
    "the settings name tokens (serve.tokens), and each names what it may",
    "omit --may",
)


class HttpPlan(NamedTuple):
    """What to serve, where and for whom; JSON can hold it."""

    folder: str | None
    overrides: dict[str, str]
    user: str | None
    """The user of the token of this start."""
    context: dict[str, str]
    may: list[Any] | None
    """The rights of the token of this start, if they are stated."""
    host: str
    port: int
    allowed: list[str]
    """More accepted values of the header Host."""
    follow: bool
    """Whether to reload when a file is saved."""
    token: str | None = None
    """The token of this start; None if the settings list tokens."""
    key: str | None = None
    """The secret that several processes share, in hex; None for one process."""


def open_entrance(plan: HttpPlan, settings: Any) -> tuple[HttpPlan, socket.socket]:
    """Bind the port, print the address and the token, and return both."""
    from toolmd._auth.authentication import with_port

    known = settings.serve.tokens
    if known and plan.may is not None:
        stop(ExitCode.USAGE, *EACH_HAS_RIGHTS)
    own = own_token((plan.user, plan.context), known=bool(known))
    listening = listen(plan.host, plan.port)
    port = listening.getsockname()[1]
    url = f"http://{with_port(plan.host, port)}"
    err(f"MCP at {url}/mcp")
    if own is not None and "TOOLMD_TOKEN" not in os.environ:
        err(f"Token: {own}")
    if known:
        err(f"Tokens of the settings: {', '.join(sorted({one.user for one in known}))}")
    err(f"API at {url}/api; try: {first_request(url, own)}")
    if own is not None and plan.may is None:
        err("note: the token may call tools; with --may call,decide a person may also confirm")
    return plan._replace(port=port, token=own), listening


@contextmanager
def opened(plan: HttpPlan) -> Iterator[tuple[Any, Any]]:
    """Open the workspace of a plan, with the source of its events."""
    from toolmd._http.events import PLUGIN, EventSource, Feed
    from toolmd._workspace import Workspace

    source = EventSource(Feed())
    plugins = {PLUGIN: source}
    with Workspace.open(plan.folder, overrides=plan.overrides, plugins=plugins) as workspace:
        yield workspace, source


def serve_plan(
    plan: HttpPlan,
    listening: socket.socket,
    serves: tuple[Any, Any],
    *,
    started: Callable[[], None] = lambda: None,
    told: Told = ON_STDERR,
) -> None:
    """Serve until a signal.

    Args:
        plan: What to serve; its port is that of the socket.
        listening: The bound socket.
        serves: The workspace and the source of its events, as `opened` returns them.
        started: Called when the server answers.
        told: Where the end of the server is shown.
    """
    from toolmd._auth import Addresses, Tokens, verifier

    workspace, source = serves
    tokens = Tokens(
        lambda: workspace.settings.serve.tokens,
        own=plan.token,
        caller=Caller(plan.user, plan.context),
        may=plan.may or ["call"],
        verify=verifier(workspace.settings),
    )
    addresses = Addresses.of(plan.host, plan.port, plan.allowed)
    key = None if plan.key is None else bytes.fromhex(plan.key)
    entrance = Entrance(listening, plan.port, addresses, tokens, key)
    with following(workspace, follow=plan.follow):
        ready = partial(reload_at_hangup, workspace)
        serving = serve_workspace(
            workspace, entrance, source, mcp_at_once=True, ready=ready, started=started, told=told
        )
        run(serving)


def tell_losses(workspace: Any) -> None:
    """List on stderr the restrictions that hosts do not see."""
    for loss in workspace.exported("mcp").losses:
        err(f"note: hosts do not see all of it: {loss}")
