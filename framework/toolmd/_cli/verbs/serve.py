"""The verbs that serve: serve, dev, worker and lsp."""

import os
import re
import shutil
import signal
import sys
import time
from collections import deque
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer

from toolmd._cli.diagnostics import full, lines_below
from toolmd._cli.frame import (
    ContextOption,
    ExitCode,
    ProjectOption,
    UserOption,
    context_of,
    open_workspace,
    rights_of,
    stop,
)
from toolmd._cli.screen import counted, err, out, out_json, paint, printable, stdout_for_data
from toolmd._cli.serving import (
    PORT,
    Entrance,
    HttpPlan,
    end_at_interrupt,
    first_request,
    following,
    listen,
    open_entrance,
    opened,
    own_token,
    reload_at_hangup,
    run,
    serve_plan,
    serve_workspace,
    tell_losses,
)
from toolmd._types.call import Caller
from toolmd._types.code import Code
from toolmd.config import load_settings
from toolmd.errors import ToolmdError

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
        from toolmd._cli.workers import serve_as_member

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

    from toolmd._cli.serving import Resuming, run
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

    from toolmd._cli.workers import Supervisor
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


class LiveReport:
    """A report of each new snapshot: its new findings, and how many there are."""

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace
        self._told: frozenset[Any] | None = None
        """The findings that were reported last; None before the first report."""
        self._changes: deque[tuple[Any, Any]] = deque()

    def changed(self, old: Any, new: Any) -> None:
        """Store a new snapshot until it is checked."""
        self._changes.append((old, new))

    def checked(self, found: tuple[Any, ...]) -> None:
        """Report the stored changes as one, with their findings; without any, new findings only.

        A save may give two snapshots before one check.
        """
        changes = [self._changes.popleft() for _ in range(len(self._changes))]
        if changes:
            self._tell(changes[0][0], changes[-1][1], found)
        elif self._told is None or self._told != frozenset(found):
            self._report("", found)

    def _tell(self, old: Any, new: Any, found: tuple[Any, ...]) -> None:
        before, after = _named(old), _named(new)
        parts = {
            "new": sorted(after.keys() - before.keys()),
            "gone": sorted(before.keys() - after.keys()),
            "changed": sorted(n for n in after.keys() & before.keys() if after[n] != before[n]),
        }
        said = "; ".join(f"{what}: {_few(names)}" for what, names in parts.items() if names)
        known = {(edit.name, edit.weakened) for edit in old.pending_changes}
        waiting = [e for e in new.pending_changes if (e.name, e.weakened) not in known]
        self._report(said or "read again", found, besides=Code.WEAKENED_POLICY)
        for edit in waiting:
            err(paint(f"{edit.name}: this edit weakens its policy, so it waits", "yellow"))
            for line in edit.diff.splitlines():
                err(f"  {paint(printable(line), 'red' if line[0] == '-' else 'green')}")
            err(f"{paint('help', 'cyan', sys.stderr)}: toolmd accept {edit.name}")

    def _report(self, said: str, found: tuple[Any, ...], besides: str = "") -> None:
        """Report the findings that are new, but for those of a code that is reported `besides`."""
        workspace = self._workspace
        told = self._told or frozenset()
        fresh = [one for one in found if one not in told and one.code != besides]
        self._told = frozenset(found)
        tools = counted(len(workspace.tools), "tool")
        skills = counted(len(workspace.skills), "skill")
        at = paint(time.strftime("%H:%M:%S"), "dim", sys.stderr)
        lead = f"{at} {printable(said)}: " if said else f"{at} "
        wrong = paint(counted(len(found), "finding"), "yellow", sys.stderr) if found else "all well"
        if fresh:
            err(full(fresh, lines_below(workspace.settings.root)))
        err(f"{lead}{tools}, {skills}, {wrong}")


def _named(registry: Any) -> dict[str, Any]:
    bound = (*registry.tools.values(), *registry.skills.values())
    return {one.name: (one.hash, one.stale, one.target) for one in bound}


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"  # noqa: PLR2004


DevPortOption = Annotated[
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
    port: DevPortOption = None,
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


POLL_S = 0.2
"""How often the main thread looks for a signal, in seconds."""


def worker(*, project: ProjectOption = None) -> None:
    """Execute the runs that other processes left unfinished, and those that are due.

    Several workers may share one engine. SIGINT or SIGTERM stops it: calls in flight finish
    (`serve.drain_timeout`), and other workers execute the rest. A second signal ends it at once.
    """
    # A list, not an event: a handler that runs while the main thread has the event's lock would
    # wait for ever.
    signals: list[int] = []

    def end(number: int, _: object) -> None:
        if signals:
            os._exit(ExitCode.INTERRUPTED)
        signals.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    from toolmd._workspace.gauges import watch_state

    with open_workspace(project, traces=True) as workspace:
        if not workspace.runs.start_sync():
            help_ = 'set store = "sqlite", or a postgresql:// URL'
            stop(ExitCode.USAGE, 'runs are in memory only (store = "memory")', help_)
        watch_state(workspace)
        err("worker: waits for runs; Ctrl-C ends it")
        while not signals:
            time.sleep(POLL_S)
        workspace.runs.stop_sync(
            workspace.settings.serve.drain_timeout,
            lambda: err(
                "worker: ends when the calls of its runs have; a second signal ends at once"
            ),
        )


def lsp() -> None:
    """Serve an editor: diagnostics, completion, hover and fixes.

    An editor starts it and talks to it over stdio (docs/how-to/editor.md). It checks the project
    of each open document, as `check` does. Needs the extra `lsp`: pip install 'toolmd[lsp]'.
    """
    try:
        from toolmd._lsp import serve_editor
    except ModuleNotFoundError as error:
        missing = "the language server needs the package pygls: pip install 'toolmd[lsp]'"
        raise ToolmdError(missing) from error
    if sys.stdin.isatty():
        err("An editor starts this command and talks to it over stdio; Ctrl-C stops it.")
        err("help: docs/how-to/editor.md shows the settings of editors")
    serve_editor(ready=end_at_interrupt)
