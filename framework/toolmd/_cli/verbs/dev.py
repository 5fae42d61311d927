"""`dev`: watch the project while its author works, with console, API and MCP."""

import sys
from ipaddress import ip_address
from typing import Annotated, Any

import typer

from toolmd._cli.frame import ContextOption, ExitCode, ProjectOption, UserOption, context_of, stop
from toolmd._cli.screen import err, out, paint
from toolmd._cli.server.serving import (
    PORT,
    Entrance,
    first_request,
    listen,
    own_token,
    run,
    serve_workspace,
)
from toolmd._types.call import Caller
from toolmd.config import load_settings

PortOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        max=65535,
        help=f"The port; 0 picks a free one; default: the first free port from {PORT} on.",
    ),
]


def dev(
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="A loopback address of this machine.")
    ] = "127.0.0.1",
    port: PortOption = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the console in the browser.")] = False,
    user: UserOption = None,
    context: ContextOption = None,
    trust_edits: Annotated[
        bool, typer.Option("--trust-edits", help="Make edits that weaken a policy live at once.")
    ] = False,
    project: ProjectOption = None,
) -> None:
    """Watch the files, and serve console, API and MCP.

    Prints the link to the console (docs/how-to/dev-server.md). Calls use the caller of --user and
    --context. Ctrl-C lets calls in flight finish; a second one exits at once. Needs the extras
    `server` and, for MCP, `mcp`: pip install 'toolmd[server,mcp]'.
    """
    if not _is_loopback(host):
        help_ = "`toolmd serve --transport http --host` is for other machines"
        stop(ExitCode.USAGE, f"dev listens only on this machine, not on {host}", help_)
    from toolmd._auth import ALL_RIGHTS, Addresses, Tokens
    from toolmd._auth.authentication import with_port
    from toolmd._http import require_server

    require_server()
    # Check the settings first: the link must not lead to a project that can't be read.
    folder = load_settings(project).root
    caller = Caller(user, context_of(context))
    token = own_token((user, caller.context), known=False)
    assert token is not None
    listening = listen(host, port)
    bound = listening.getsockname()[1]
    url = f"http://{with_port(host, bound)}"
    tokens = Tokens(own=token, caller=caller, may=ALL_RIGHTS)
    link = _shown(url, token)
    place = Entrance(listening, bound, Addresses.of(host, bound), tokens)
    # No balancer is in front of it.
    overrides = {"serve.drain_grace": "0"}
    if trust_edits:
        overrides["trust_edits"] = "true"
    _serve(folder, overrides, place, link if open_ else "")


def _shown(url: str, token: str) -> str:
    """Print the addresses, and return the link to the console."""
    link = f"{url}/enter#token={token}"
    out(f"{paint('Console', 'bold')}  {link}")
    out(f"API      {url}/api    MCP  {url}/mcp")
    out(f"Token: {token}")
    out(f"Try      {first_request(url, token)}")
    sys.stdout.flush()
    return link


def _serve(folder: Any, overrides: dict[str, str], place: Entrance, open_link: str) -> None:
    from toolmd._cli.reports.live import LiveReport
    from toolmd._http.events import PLUGIN, EventSource, Feed
    from toolmd._watch import Watcher
    from toolmd._workspace import Workspace

    event_source = EventSource(Feed())
    with Workspace.open(folder, overrides=overrides, plugins={PLUGIN: event_source}) as workspace:
        report = LiveReport(workspace)
        workspace.on_change(report.changed)
        workspace.on_checked(report.checked)

        async def serve() -> None:
            watcher = Watcher(workspace)
            # Watch before the first check, whose imports may take long.
            watcher.start()
            if watcher.problem:
                err(f"note: {watcher.problem}")
            workspace.check_soon()
            if open_link:
                import webbrowser

                webbrowser.open(open_link)
            try:
                await serve_workspace(workspace, place, event_source)
            finally:
                watcher.stop()

        run(serve())
    err("Stopped.")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
