"""Serve a project over stdio or HTTP: the token, the port, reloads, runs and the end."""

import asyncio
import errno
import logging
import os
import re
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import err, plural, printable
from toolmd._types.call import Caller
from toolmd.errors import ToolmdError

if TYPE_CHECKING:
    from toolmd._types.settings import Right, Settings

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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


@contextmanager
def following(workspace: Any, *, follow: bool) -> Iterator[None]:
    """Reload when files change, if `follow` is True."""
    if not follow:
        yield
        return
    from toolmd._watch import Watcher

    with Watcher(workspace) as watcher:
        if watcher.problem:
            err(f"note: {watcher.problem}")
        yield


def reload_at_hangup(workspace: Any) -> None:
    """Reload the definitions at SIGHUP, on systems with that signal."""
    loop = asyncio.get_running_loop()
    under_way: set[Any] = set()

    def start() -> None:
        task = loop.create_task(workspace.areload())
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, start)


async def start_runs(workspace: Any) -> None:
    """Execute the runs that are due; the log has the reason if their engine does not start."""
    try:
        await workspace.runs.start()
    except Exception:
        logging.getLogger(__name__).exception("no run is executed: the engine did not start")


class McpApp:
    """An ASGI app for `/mcp`; enter `running` around the server."""

    def __init__(self, workspace: Any, key: bytes | None = None) -> None:
        """Prepare to serve `workspace`; `key` is the secret that several processes share."""
        self._workspace = workspace
        self._key = key
        self._endpoint: Any = None
        self.close: Callable[[], None] = lambda: None
        """Ends every stream."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within this context, once."""
        try:
            # The SDK takes a second to import.
            server, self._endpoint = await asyncio.to_thread(self._load)
        except ToolmdError as error:
            from toolmd._http.operations import ApiError

            self._endpoint = ApiError(503, "no_mcp", str(error)).answer()
            yield
            return
        self.close = server.changes.close
        end = self._workspace.on_change(lambda *_: server.changed_soon())
        try:
            async with self._endpoint.running():
                yield
        finally:
            end()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one authenticated request."""
        await self._endpoint(scope, receive, send)

    def _load(self) -> tuple[Any, Any]:
        from toolmd._mcp import require_sdk

        require_sdk()
        from toolmd._mcp.callers import Callers
        from toolmd._mcp.http import McpEndpoint
        from toolmd._mcp.server import McpServer

        server = McpServer(self._workspace, Callers(), self._key)
        return server, McpEndpoint(server, stateless=self._key is not None)


class HttpPlan(NamedTuple):
    """What to serve, where and for whom; other processes can receive it."""

    folder: str | None
    overrides: dict[str, str]
    caller: Caller
    """The caller of the token of this start."""
    host: str
    port: int
    """0 picks a free one."""
    may: "tuple[Right, ...] | None" = None
    """The rights of the token of this start, if they are stated."""
    allowed: tuple[str, ...] = ()
    """More accepted values of the header Host."""
    follow: bool = False
    """Whether to reload when a file is saved."""
    reads_tokens: bool = True
    """Whether the tokens of the settings count."""
    token: str | None = None
    """The token of this start; None if the settings list tokens."""
    key: bytes | None = None
    """The secret that several processes share; None for one process."""

    @property
    def url(self) -> str:
        """The address of the server."""
        from toolmd._auth.authentication import with_port

        return f"http://{with_port(self.host, self.port)}"

    @property
    def first_request(self) -> str:
        """A command that lists the tools over HTTP."""
        return f'curl -H "Authorization: Bearer {self._printable_token}" {self.url}/api/tools'

    @property
    def console(self) -> str:
        """The link that opens the console in a browser."""
        return f"{self.url}/enter#token={self._printable_token}"

    @property
    def _printable_token(self) -> str:
        return "$TOOLMD_TOKEN" if "TOOLMD_TOKEN" in os.environ else self.token or "TOKEN"


def enter(plan: HttpPlan, settings: "Settings") -> tuple[HttpPlan, socket.socket]:
    """Choose the token and bind the port; return both with the plan, or stop with the reason."""
    is_known = plan.reads_tokens and bool(settings.serve.tokens)
    given = os.environ.get("TOOLMD_TOKEN")
    stated = plan.caller.user is not None or plan.caller.context or plan.may is not None
    if is_known and (given is not None or stated):
        what = "the settings name tokens (serve.tokens), each with its user and what it may"
        stop(ExitCode.USAGE, what, "omit --user, --context, --may and TOOLMD_TOKEN")
    from toolmd._auth import fresh_token
    from toolmd._auth.tokens import SHORTEST

    if given is not None and (len(given) < SHORTEST or not re.fullmatch(r"[\x21-\x7e]+", given)):
        stop(
            ExitCode.USAGE,
            f"TOOLMD_TOKEN must be at least {SHORTEST} visible ASCII characters",
            'python -c "import secrets; print(secrets.token_urlsafe(32))" makes one',
        )
    listening = _listen(plan.host, plan.port)
    token = None if is_known else given or fresh_token()
    return plan._replace(port=listening.getsockname()[1], token=token), listening


def _listen(host: str, port: int) -> socket.socket:
    from toolmd._auth.authentication import with_port
    from toolmd._auth.server import bound_socket

    try:
        return bound_socket(host, port)
    except OSError as error:
        help_ = "--host needs an address of this machine, such as 127.0.0.1"
        if error.errno == errno.EADDRINUSE:
            help_ = "another program uses that port; --port 0 picks a free one"
        stop(ExitCode.NOT_FOUND, f"{with_port(host, port)}: {error.strerror}", help_)


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
    workspace: Any,
    source: Any,
    *,
    begins: Callable[[], None] = lambda: None,
    is_worker: bool = False,
) -> None:
    """Serve API, console and MCP until a signal.

    Args:
        plan: What to serve; its port is that of the socket.
        listening: The bound socket.
        workspace: The open workspace.
        source: The source of its events.
        begins: Called in the serving loop before anything is served.
        is_worker: Whether a parent process acts on a second signal.
    """
    from toolmd._auth import Addresses
    from toolmd._auth.server import serve
    from toolmd._http.app import Server

    tokens = _tokens(plan, workspace)

    async def main() -> None:
        mcp = McpApp(workspace, plan.key)
        server = Server(
            workspace,
            source,
            addresses=Addresses.of(plan.host, plan.port, plan.allowed),
            tokens=tokens,
            port=plan.port,
            key=plan.key,
            mcp=mcp,
        )

        settings = workspace.settings.serve
        await start_runs(workspace)

        async def end() -> None:
            if not is_worker:
                err("ends after the running calls; a second signal ends at once")
            source.feed.close()
            mcp.close()
            await workspace.runs.stop(settings.drain_timeout)

        begins()
        reload_at_hangup(workspace)
        await serve(server.app, listening, settings=settings, ending=end, is_worker=is_worker)

    with following(workspace, follow=plan.follow):
        run(main())


def _tokens(plan: HttpPlan, workspace: Any) -> Any:
    """Return the tokens that count: of the settings, this start, issuers and plugins."""
    from toolmd._auth import Tokens, verifier

    def known() -> Any:
        return workspace.settings.serve.tokens if plan.reads_tokens else ()

    return Tokens(
        known, own=plan.token, caller=plan.caller, may=plan.may or ("call",),
        verify=verifier(workspace.settings), ask=workspace.authenticate,
    )  # fmt: skip


def run(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server until it ends, on uvloop where that is installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        asyncio.run(serving)
        return
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(serving)


def tell_changes(workspace: Any) -> None:
    """List on stderr the edits that wait for acceptance; end where the settings require it."""
    edits = workspace.changes.list_sync()
    for edit in edits:
        for one in edit.weakened:
            err(printable(f"{edit.name}: {one} waits for acceptance; the stricter one is in force"))
    if edits and workspace.settings.serve.require_accepted:
        what = f"{plural(len(edits), 'edit')} weakens a policy and is not accepted"
        help_ = "`toolmd accept NAME`, or `toolmd accept --all --against REV` for a release"
        stop(ExitCode.DENIED, what, help_)


def tell_losses(workspace: Any) -> None:
    """List on stderr the restrictions that hosts do not see."""
    for loss in workspace.exported("mcp").losses:
        err(f"note: hosts do not see all of it: {loss}")
