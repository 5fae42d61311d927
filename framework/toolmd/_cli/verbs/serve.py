"""`serve`: serve the project's tools to MCP hosts and other programs, over stdio or HTTP."""

import re
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from toolmd._cli.frame import (
    ContextOption,
    ExitCode,
    ProjectOption,
    UserOption,
    context_of,
    rights_of,
    stop,
)
from toolmd._cli.screen import err, out, out_json, stdout_for_data
from toolmd._cli.server.interrupts import end_at_interrupt
from toolmd._cli.server.over_http import HttpPlan, open_entrance, opened, serve_plan, tell_losses
from toolmd._cli.server.reloading import following, reload_at_hangup
from toolmd._cli.server.serving import PORT
from toolmd._types.call import Caller
from toolmd.config import load_settings

Transport = Literal["stdio", "http"]
Host = Literal["claude", "vscode", "cursor", "codex", "gemini"]
MOST_WORKERS = 256

TransportOption = Annotated[
    Transport, typer.Option(help="stdio: the host starts it; http: it runs on its own.")
]
HostOption = Annotated[
    str, typer.Option(metavar="ADDRESS", help="The address to listen at (http).")
]
PortOption = Annotated[
    int,
    typer.Option(metavar="N", min=0, max=65535, help="The port (http); 0 picks a free one."),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME[:PORT]", help="Another accepted Host (http behind a proxy)."),
]
MayOption = Annotated[
    str | None,
    typer.Option(
        metavar="RIGHTS",
        help="What the token of this start may do (http), by commas: call, decide, operate;"
        " default: call.",
        show_default=False,
    ),
]
TrustEditsOption = Annotated[
    bool, typer.Option("--trust-edits", help="Make edits that weaken a policy live at once.")
]
FollowOption = Annotated[
    bool | None,
    typer.Option(
        "--follow/--no-follow",
        help="Reload when a file is saved; default: yes over stdio, no over http.",
        show_default=False,
    ),
]
WorkersOption = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, max=MOST_WORKERS, help="The number of server processes (http)."
    ),
]
PrintConfigOption = Annotated[
    Host | None, typer.Option(help="Print the settings for this host, and exit.")
]


def serve(
    *,
    transport: TransportOption = "stdio",
    host: HostOption = "127.0.0.1",
    port: PortOption = PORT,
    allow_host: AllowHostOption = None,
    user: UserOption = None,
    context: ContextOption = None,
    may: MayOption = None,
    trust_edits: TrustEditsOption = False,
    follow: FollowOption = None,
    workers: WorkersOption = 1,
    line: Annotated[int | None, typer.Option(hidden=True)] = None,
    print_config: PrintConfigOption = None,
    project: ProjectOption = None,
) -> None:
    """Serve the tools and skills to MCP hosts, and over HTTP to other programs.

    docs/how-to/mcp.md shows the settings of hosts. Over HTTP, the API is next to MCP
    (docs/reference/http.md), and every request needs a token: the one printed at the start,
    TOOLMD_TOKEN, or one of `serve.tokens` in the settings (`toolmd tokens new`). Ctrl-C or
    the end of the pipe stops it. Needs the extra `mcp`, and over HTTP `server` too:
    pip install 'toolmd[mcp,server]'.
    """
    overrides = {"trust_edits": "true"} if trust_edits else {}
    facts = context_of(context)
    if print_config is not None:
        _print_config(print_config, project, transport, (host, port), (user, facts, trust_edits))
        return
    from toolmd._mcp import require_sdk

    require_sdk()
    if line is not None:
        from toolmd._cli.server.member import serve_as_member

        serve_as_member(line)
    elif transport == "stdio":
        if workers > 1:
            what = f"a host on stdio starts one process, not {workers}"
            stop(ExitCode.USAGE, what, "omit --workers, or add --transport http")
        _over_stdio(project, overrides, (user, facts), follow=follow is not False)
    else:
        rights = None if may is None else [*rights_of(may)]
        place = None if project is None else str(project)
        _over_http(
            HttpPlan(place, overrides, user, facts, rights, host, port, allow_host or [],
                     follow is True),
            workers,
        )  # fmt: skip


def _over_stdio(
    folder: Any,
    overrides: dict[str, str],
    whose: tuple[str | None, dict[str, str]],
    *,
    follow: bool,
) -> None:
    import asyncio

    from toolmd._cli.server.resuming import Resuming
    from toolmd._cli.server.serving import run
    from toolmd._mcp.stdio import serve_stdio
    from toolmd._workspace import Workspace

    with stdout_for_data():
        workspace = Workspace.open(folder, overrides=overrides)
        tell_losses(workspace)
    with workspace:
        if sys.stdin.isatty():
            err("An MCP host starts this command and talks to it over stdio; Ctrl-C stops it.")
            err("help: toolmd serve --print-config claude shows the settings of such a host")

        def ready(server: Any, requests: Any) -> None:
            workspace.on_change(lambda *_: server.changed_soon())
            resuming = Resuming(workspace)
            reload_at_hangup(workspace)
            loop = asyncio.get_running_loop()

            async def drain() -> None:
                limit_s = workspace.settings.serve.drain_timeout
                server.changes.close()
                await asyncio.gather(requests.land(limit_s), resuming.stop(limit_s))

            def end() -> None:
                asyncio.run_coroutine_threadsafe(drain(), loop).result()
                workspace.close()

            end_at_interrupt(end)

        with following(workspace, follow=follow):
            run(serve_stdio(workspace, Caller(*whose), ready=ready))


def _over_http(plan: HttpPlan, workers: int) -> None:
    from toolmd._http import require_server
    from toolmd._store import is_postgres

    require_server()
    if workers > 1:
        _over_processes(plan, workers)
    with opened(plan) as serves:
        settings = serves[0].settings
        tell_losses(serves[0])
        if is_postgres(settings.store):
            from toolmd._store.store import shared_secret

            # Servers of other machines may get the next request of a client.
            plan = plan._replace(key=shared_secret(settings.store, settings.state))
        plan, listening = open_entrance(plan, settings)
        serve_plan(plan, listening, serves)


def _over_processes(plan: HttpPlan, workers: int) -> NoReturn:
    import asyncio

    from toolmd._cli.server.supervisor import Supervisor
    from toolmd._store import MEMORY
    from toolmd._store.store import shared_secret

    if sys.platform == "win32":
        what = "several server processes need sockets that processes can share, as on Linux"
        stop(ExitCode.USAGE, what, "omit --workers")
    settings = load_settings(plan.folder, overrides=plan.overrides)
    if settings.store == MEMORY:
        what = f'{workers} processes can\'t share their state in memory (store = "memory")'
        stop(ExitCode.USAGE, what, 'set store = "sqlite", or a postgresql:// URL')
    plan, listening = open_entrance(plan, settings)
    secret = shared_secret(settings.store, settings.state)
    plan = plan._replace(folder=str(settings.root), key=secret)

    async def run() -> int:
        return await Supervisor(plan, listening, workers, settings.serve).run()

    raise typer.Exit(asyncio.run(run()))


def _print_config(
    host: Host,
    folder: Path | None,
    transport: Transport,
    place: tuple[str, int],
    caller: tuple[str | None, dict[str, str], bool],
) -> None:
    from toolmd._auth.authentication import with_port
    from toolmd._mcp.hosts import TOML_HOSTS, as_toml, over_http, over_stdio

    def show(settings: dict[str, Any]) -> None:
        if host in TOML_HOSTS:
            out(as_toml(settings))
        else:
            out_json(settings)

    root = load_settings(folder).root
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", root.name).strip("-") or "toolmd"
    if transport == "http":
        if not place[1]:
            stop(ExitCode.USAGE, "a host needs a fixed port", "name one with --port")
        show(over_http(host, name, f"http://{with_port(*place)}/mcp"))
        return
    user, facts, trust_edits = caller
    words = ["serve", "--transport", "stdio", "--project", str(root)]
    words += ["--user", user] if user is not None else []
    for fact, value in facts.items():
        words += ["--context", f"{fact}={value}"]
    words += ["--trust-edits"] if trust_edits else []
    command = shutil.which("toolmd") or str(Path(sys.argv[0]).resolve())
    show(over_stdio(host, name, command, words))
