"""`serve`: serve the project's tools to MCP hosts and other programs, over stdio or HTTP."""

import os
import re
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from toolmd._cli.server.interrupts import end_at_interrupt
from toolmd._cli.server.serving import PORT, Entrance, listen, own_token, serve_workspace
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import (
    ContextOption,
    ProjectOption,
    UserOption,
    context_of,
    project_of,
    rights_of,
    stop,
)
from toolmd._cli.terminal.screen import err, out_json, stdout_for_data

Transport = Literal["stdio", "http"]
Host = Literal["claude", "vscode", "cursor"]


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve", rich_help_panel="Run")(serve)


def serve(
    ctx: typer.Context,
    *,
    transport: Annotated[
        Transport, typer.Option(help="stdio: the host starts it; http: it runs on its own.")
    ] = "stdio",
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen at (http).")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=65535, help="The port (http); 0 picks a free one."),
    ] = PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[:PORT]", help="Another accepted Host (http behind a proxy)."),
    ] = None,
    user: UserOption = None,
    context: ContextOption = None,
    may: Annotated[
        str | None,
        typer.Option(
            metavar="RIGHTS",
            help="What the token of this start may do (http), by commas: call, decide, operate;"
            " default: call.",
            show_default=False,
        ),
    ] = None,
    trust_edits: Annotated[
        bool, typer.Option("--trust-edits", help="Make edits that weaken a policy live at once.")
    ] = False,
    follow: Annotated[
        bool | None,
        typer.Option(
            "--follow/--no-follow",
            help="Reload when a file is saved; default: yes over stdio, no over http.",
            show_default=False,
        ),
    ] = None,
    print_config: Annotated[
        Host | None, typer.Option(help="Print the settings for this host, and exit.")
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Serve the tools and skills to MCP hosts, and over HTTP to other programs.

    docs/how-to/mcp.md shows the settings of hosts. Over HTTP, the API is next to MCP
    (docs/reference/http.md), and every request needs a token: the one printed at the start,
    TOOLMD_TOKEN, or one of `serve.tokens` in the settings (`toolmd tokens`). Ctrl-C stops it, or
    the end of the pipe. Needs the extra `mcp`, and over HTTP `server` too:
    pip install 'toolmd[mcp,server]'.
    """
    folder = project_of(ctx, project)
    overrides = {"trust_edits": "true"} if trust_edits else {}
    facts = context_of(context)
    if print_config is not None:
        _print_config(print_config, folder, transport, (host, port), (user, facts, trust_edits))
        return
    from toolmd._mcp import require_sdk
    from toolmd._types.call import Caller

    require_sdk()
    caller = Caller(user, facts)
    if transport == "stdio":
        _over_stdio(folder, overrides, caller, follow=follow is not False)
    else:
        place = (host, port, allow_host or [])
        _over_http(folder, overrides, (caller, may), place, follow=follow is True)


def _over_stdio(folder: Any, overrides: dict[str, str], caller: Any, *, follow: bool) -> None:
    import asyncio

    from toolmd._mcp.stdio import serve_stdio
    from toolmd._workspace import Workspace

    with stdout_for_data():
        workspace = Workspace.open(folder, overrides=overrides)
        _tell_losses(workspace)
    with workspace:
        if sys.stdin.isatty():
            err("An MCP host starts this command and talks to it over stdio; Ctrl-C stops it.")
            err("help: toolmd serve --print-config claude shows the settings of such a host")
        loose_ends: list[Any] = []

        def ready(server: Any, requests: Any) -> None:
            workspace.on_change(lambda *_: server.changed_soon())
            loose_ends.append(asyncio.ensure_future(workspace.runs.start()))
            _reload_at_hangup(workspace)
            loop = asyncio.get_running_loop()

            async def drain() -> None:
                limit_s = workspace.settings.serve.drain_timeout
                server.changes.close()
                await asyncio.gather(requests.land(limit_s), workspace.runs.stop(limit_s))

            def end() -> None:
                asyncio.run_coroutine_threadsafe(drain(), loop).result()
                workspace.close()

            end_at_interrupt(end)

        with _following(workspace, follow=follow):
            asyncio.run(serve_stdio(workspace, caller, ready=ready))


def _over_http(
    folder: Any,
    overrides: dict[str, str],
    whose: tuple[Any, str | None],
    place: tuple[str, int, list[str]],
    *,
    follow: bool,
) -> None:
    import asyncio

    from toolmd._auth import Addresses, Tokens
    from toolmd._auth.addresses import with_port
    from toolmd._http import require_server
    from toolmd._http.api.event_stream import PLUGIN, EventSource
    from toolmd._http.api.feed import Feed
    from toolmd._workspace import Workspace

    require_server()
    (caller, may), (host, port, allowed) = whose, place
    rights = rights_of(may or "call")
    event_source = EventSource(Feed())
    with Workspace.open(folder, overrides=overrides, plugins={PLUGIN: event_source}) as workspace:
        _tell_losses(workspace)
        known = workspace.settings.serve.tokens
        if known and may is not None:
            stop(ExitCode.USAGE, *EACH_HAS_RIGHTS)
        own = own_token(caller, known=bool(known))
        listening = listen(host, port)
        port = listening.getsockname()[1]
        url = f"http://{with_port(host, port)}"
        err(f"MCP at {url}/mcp")
        if own is not None and "TOOLMD_TOKEN" not in os.environ:
            err(f"Token: {own}")
        if known:
            err(f"Tokens of the settings: {', '.join(sorted({one.user for one in known}))}")
        err(f"API at {url}/api")
        if own is not None and may is None:
            err("note: the token may call tools; with --may call,decide a person may also confirm")
        bound = Entrance(listening, port, Addresses.of(host, port, allowed),
                      Tokens(lambda: workspace.settings.serve.tokens, own=own, caller=caller,
                             may=rights))  # fmt: skip
        with _following(workspace, follow=follow):
            ready = partial(_reload_at_hangup, workspace)
            asyncio.run(
                serve_workspace(workspace, bound, event_source, mcp_at_once=True, ready=ready)
            )


EACH_HAS_RIGHTS = (
    "the settings name tokens (serve.tokens), and each names what it may",
    "omit --may",
)


def _following(workspace: Any, *, follow: bool) -> AbstractContextManager[Any]:
    """Reload when files change, if `follow` is True."""
    if not follow:
        return nullcontext()
    from toolmd._watch import Watcher

    return Watcher(workspace)


def _reload_at_hangup(workspace: Any) -> None:
    """Reload the definitions at SIGHUP, on systems with that signal."""
    import asyncio
    import signal

    loop = asyncio.get_running_loop()
    under_way: set[Any] = set()

    def start() -> None:
        task = loop.create_task(workspace.areload())
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, start)


def _tell_losses(workspace: Any) -> None:
    """List on stderr the restrictions that hosts do not see."""
    for loss in workspace.exported("mcp").losses:
        err(f"note: hosts do not see all of it: {loss}")


def _print_config(
    host: Host,
    folder: Path | None,
    transport: Transport,
    place: tuple[str, int],
    caller: tuple[str | None, dict[str, str], bool],
) -> None:
    from toolmd._auth.addresses import with_port
    from toolmd._mcp.hosts import over_http, over_stdio
    from toolmd.config import load_settings

    root = load_settings(folder).root
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", root.name).strip("-") or "toolmd"
    if transport == "http":
        if not place[1]:
            stop(ExitCode.USAGE, "a host needs a fixed port", "name one with --port")
        out_json(over_http(host, name, f"http://{with_port(*place)}/mcp"))
        return
    user, facts, trust_edits = caller
    words = ["serve", "--transport", "stdio", "--project", str(root)]
    words += ["--user", user] if user is not None else []
    for fact, value in facts.items():
        words += ["--context", f"{fact}={value}"]
    words += ["--trust-edits"] if trust_edits else []
    command = shutil.which("toolmd") or str(Path(sys.argv[0]).resolve())
    out_json(over_stdio(host, name, command, words))
