"""`serve`: the project's tools for MCP hosts, over standard input and output or over HTTP."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from toolmark._cli.exits import ExitCode
from toolmark._cli.options import PatientOption, ProjectOption, UserOption, project_of, stop
from toolmark._cli.screen import err, out_json

PORT = 8787
"""Where `serve` listens if nothing else is said."""

Transport = Literal["stdio", "http"]
Host = Literal["claude", "vscode", "cursor"]


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("serve", rich_help_panel="Run")(serve)


def serve(
    ctx: typer.Context,
    *,
    transport: Annotated[
        Transport, typer.Option(help="stdio: the host starts it; http: it runs by itself.")
    ] = "stdio",
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen (http).")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port (http); 0 takes a free one.")
    ] = PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[:PORT]", help="Answer to this name too (http behind a proxy)."),
    ] = None,
    user: UserOption = None,
    patient: PatientOption = None,
    trust_edits: Annotated[
        bool, typer.Option("--trust-edits", help="Take edits that drop a restriction at once.")
    ] = False,
    print_config: Annotated[
        Host | None, typer.Option(help="Show what the host's own settings must say, and end.")
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Serve the tools and skills to MCP hosts (docs/how-to/mcp.md).

    Over HTTP every request needs the token that is printed at the start (or that of
    TOOLMARK_TOKEN), or one of the settings' `serve.tokens`. Ends with Ctrl-C, or with the pipe.
    """
    folder = project_of(ctx, project)
    overrides = {"trust_edits": "true"} if trust_edits else {}
    if print_config is not None:
        _print_config(print_config, folder, transport, (host, port), (user, patient, trust_edits))
        return
    from toolmark._workspace import Workspace
    from toolmark.adapters.mcp import require_sdk

    require_sdk()
    import asyncio

    from toolmark._model.call import Caller

    with Workspace.open(folder, overrides=overrides) as workspace:
        _tell_losses(workspace)
        caller = Caller(user, patient)
        if transport == "stdio":
            from toolmark.adapters.mcp.stdio import serve_stdio

            asyncio.run(serve_stdio(workspace, caller, ready=_reloading(workspace)))
        else:
            _serve_http(workspace, caller, host, port, allow_host or [])


def _serve_http(workspace: Any, caller: Any, host: str, port: int, allowed: list[str]) -> None:
    import asyncio

    from toolmark._gate import Addresses, Tokens
    from toolmark._gate.addresses import with_port
    from toolmark.adapters.mcp.http import PATH, bound_socket, serve_http

    known = workspace.settings.serve.tokens
    own = _own_token(caller, known=bool(known))
    try:
        listening = bound_socket(host, port)
    except OSError as error:
        stop(ExitCode.NOT_FOUND, f"{with_port(host, port)}: {error.strerror}", "try --port 0")
    port = listening.getsockname()[1]
    err(f"MCP at http://{with_port(host, port)}{PATH}")
    if own is not None and "TOOLMARK_TOKEN" not in os.environ:
        err(f"Token of this start: {own}")
    addresses = Addresses.of(host, port, allowed)
    tokens = Tokens(known, own=own, caller=caller)
    ready = _reloading(workspace)
    asyncio.run(serve_http(workspace, listening, addresses, tokens, ready=ready))


def _own_token(caller: Any, *, known: bool) -> str | None:
    """Give the token of this start; None where the settings name those who may come in."""
    from toolmark._gate import fresh_token
    from toolmark._gate.tokens import SHORTEST

    given = os.environ.get("TOOLMARK_TOKEN")
    if known:
        if given is not None or any(caller[:2]):
            what = "the settings name tokens (serve.tokens), and each names its user"
            stop(ExitCode.USAGE, what, "leave out --user, --patient and TOOLMARK_TOKEN")
        return None
    if given is None:
        return fresh_token()
    if len(given) < SHORTEST or not re.fullmatch(r"[\x21-\x7e]+", given):
        stop(
            ExitCode.USAGE,
            f"TOOLMARK_TOKEN must be at least {SHORTEST} visible ASCII characters",
            'python -c "import secrets; print(secrets.token_urlsafe(32))" makes one',
        )
    return given


def _reloading(workspace: Any) -> Any:
    """Read the definitions anew at SIGHUP, where there is such a signal."""
    import asyncio
    import signal

    def ready(server: Any) -> None:
        loop = asyncio.get_running_loop()
        under_way: set[Any] = set()

        async def reload() -> None:
            await asyncio.to_thread(workspace.reload)
            await server.changed()

        def start() -> None:
            task = loop.create_task(reload())
            under_way.add(task)
            task.add_done_callback(under_way.discard)

        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, start)

    return ready


def _tell_losses(workspace: Any) -> None:
    """Say on stderr what hosts do not get to see."""
    for loss in workspace.exported("mcp").losses:
        err(f"note: hosts do not see it whole: {loss}")


def _print_config(
    host: Host,
    folder: Path | None,
    transport: Transport,
    place: tuple[str, int],
    caller: tuple[str | None, str | None, bool],
) -> None:
    from toolmark._gate.addresses import with_port
    from toolmark.adapters.mcp.hosts import over_http, over_stdio
    from toolmark.config import load_settings

    root = load_settings(folder).root
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", root.name) or "toolmark"
    if transport == "http":
        if not place[1]:
            stop(ExitCode.USAGE, "a host can't know a port that is chosen at the start")
        out_json(over_http(host, name, f"http://{with_port(*place)}/mcp"))
        return
    user, patient, trust_edits = caller
    words = ["serve", "--transport", "stdio", "--project", str(root)]
    words += ["--user", user] if user is not None else []
    words += ["--patient", patient] if patient is not None else []
    words += ["--trust-edits"] if trust_edits else []
    command = shutil.which("toolmark") or str(Path(sys.argv[0]).resolve())
    out_json(over_stdio(host, name, command, words))
