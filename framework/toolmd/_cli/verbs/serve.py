"""The verbs that serve: serve, dev, worker and lsp."""

import os
import signal
import sys
import time
from collections import deque
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from toolmd._cli.diagnostics import full, lines_below
from toolmd._cli.frame import (
    PORT,
    ContextOption,
    ExitCode,
    RolesOption,
    UserOption,
    context_of,
    open_workspace,
    rights_of,
    stop,
)
from toolmd._cli.screen import (
    err,
    help_line,
    out,
    paint,
    plural,
    printable,
    stdout_for_data,
)
from toolmd._types.call import Caller
from toolmd._types.code import Code
from toolmd.config import load_settings
from toolmd.errors import ToolmdError

if TYPE_CHECKING:
    # `--help` must not import asyncio.
    from toolmd._cli.serving import HttpPlan

Transport = Literal["stdio", "http"]
MOST_WORKERS = 256

TransportOption = Annotated[
    Transport, typer.Option(help="stdio: the host starts it; http: it runs on its own.")
]
HostOption = Annotated[
    str, typer.Option(metavar="ADDRESS", help="The address to listen at (http).")
]
PortOption = Annotated[
    int,
    typer.Option(metavar="N", min=0, max=65535, help="The port; 0 picks a free one."),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME[:PORT]", help="Another accepted Host (http behind a proxy)."),
]
MayOption = Annotated[
    str | None,
    typer.Option(
        metavar="RIGHTS",
        help="What the token of this start may do (http), by commas: call, decide, operate, act_as;"
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


def serve(
    *,
    transport: TransportOption = "stdio",
    host: HostOption = "127.0.0.1",
    port: PortOption = PORT,
    allow_host: AllowHostOption = None,
    user: UserOption = None,
    role: RolesOption = None,
    context: ContextOption = None,
    may: MayOption = None,
    trust_edits: TrustEditsOption = False,
    follow: FollowOption = None,
    workers: WorkersOption = 1,
    require_accepted: Annotated[
        bool,
        typer.Option(
            "--require-accepted", help="Do not start while a weaker policy is not accepted."
        ),
    ] = False,
    project: Path | None,
) -> None:
    """Serve the tools and skills to MCP hosts, and over HTTP to other programs.

    docs/how-to/mcp.md shows the settings of hosts. Over HTTP, the API is next to MCP (GET
    /openapi.json), and every request needs a token: the one printed at the start,
    TOOLMD_TOKEN, or one of `serve.tokens` in the settings (`toolmd tokens new`). Ctrl-C or
    the end of the pipe stops it. Needs the extra `mcp`, and over HTTP `server` too:
    pip install 'toolmd[mcp,server]'.
    """
    overrides = {"trust_edits": "true"} if trust_edits else {}
    if require_accepted:
        overrides["serve.require_accepted"] = "true"
    caller = Caller(user, context_of(context), roles=tuple(role or ()))
    from toolmd._mcp import require_sdk

    require_sdk()
    if transport == "http":
        from toolmd._cli.serving import HttpPlan

        rights = None if may is None else rights_of(may)
        folder = None if project is None else str(project)
        plan = HttpPlan(folder, overrides, caller, host, port, rights, tuple(allow_host or ()),
                        follow is True)  # fmt: skip
        _over_http(plan, workers)
    elif workers > 1:
        what = f"a host on stdio starts one process, not {workers}"
        stop(ExitCode.USAGE, what, "omit --workers, or add --transport http")
    else:
        _over_stdio(project, overrides, caller, follow=follow is not False)


def _over_stdio(
    folder: Path | None, overrides: dict[str, str], caller: Caller, *, follow: bool
) -> None:
    import asyncio

    from toolmd._cli.serving import (
        end_at_interrupt,
        following,
        reload_at_hangup,
        run,
        start_runs,
        tell_changes,
        tell_losses,
    )
    from toolmd._mcp.stdio import serve_stdio
    from toolmd._workspace import Workspace

    with stdout_for_data():
        workspace = Workspace.open(folder, overrides=overrides)
        tell_losses(workspace)
        tell_changes(workspace)
    with workspace:
        if sys.stdin.isatty():
            err("An MCP host starts this command and talks to it over stdio; Ctrl-C stops it.")
            err("help: docs/how-to/mcp.md shows the settings of hosts")

        def ready(server: Any, requests: Any) -> None:
            workspace.on_change(lambda *_: server.changed_soon())
            reload_at_hangup(workspace)
            loop = asyncio.get_running_loop()
            starting = loop.create_task(start_runs(workspace))

            async def drain() -> None:
                limit_s = workspace.settings.serve.drain_timeout
                server.changes.close()
                ends = requests.land(limit_s), workspace.runs.stop(limit_s)
                await asyncio.gather(starting, *ends)

            def end() -> None:
                asyncio.run_coroutine_threadsafe(drain(), loop).result()
                workspace.close()

            end_at_interrupt(end)

        with following(workspace, follow=follow):
            run(serve_stdio(workspace, caller, ready=ready))


def _over_http(plan: "HttpPlan", workers: int) -> None:
    from toolmd._cli.serving import enter, opened, serve_plan, tell_changes, tell_losses
    from toolmd._http import require_server
    from toolmd._store import MEMORY, is_postgres
    from toolmd._store.store import shared_secret

    require_server()
    # With several processes, this one finds what is wrong before any of them starts.
    with opened(plan) as (workspace, source):
        settings = workspace.settings
        if workers > 1 and sys.platform == "win32":
            what = "several server processes need sockets that processes can share, as on Linux"
            stop(ExitCode.USAGE, what, "omit --workers")
        if workers > 1 and settings.store == MEMORY:
            what = f'{workers} processes can\'t share their state in memory (store = "memory")'
            stop(ExitCode.USAGE, what, 'set store = "sqlite", or a postgresql:// URL')
        tell_losses(workspace)
        tell_changes(workspace)
        if workers > 1 or is_postgres(settings.store):
            # Another process, perhaps of another machine, may get a client's next request.
            secret = shared_secret(settings.store, settings.state)
            plan = plan._replace(folder=str(settings.root), key=bytes.fromhex(secret))
        plan, listening = enter(plan, settings)
        err(f"MCP at {plan.url}/mcp")
        if plan.token is None:
            users = sorted({one.user for one in settings.serve.tokens})
            err(f"Tokens of the settings: {', '.join(users)}")
        elif "TOOLMD_TOKEN" not in os.environ:
            err(f"Token: {plan.token}")
        if plan.token is not None and "operate" in (plan.may or ()):
            err(f"Console at {plan.console}")
        err(f"API at {plan.url}/api; try: {plan.first_request}")
        if plan.token is not None and plan.may is None:
            err("note: the token may call tools; with --may call,decide a person may also confirm")
        if workers == 1:
            serve_plan(plan, listening, workspace, source)
            return
    from toolmd._cli.workers import keep_workers

    raise typer.Exit(keep_workers(plan, listening, workers, settings.serve))


class LiveReport:
    """A report of each new snapshot: what changed, and its new findings."""

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace
        self._reported: frozenset[Any] | None = None
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
        known = self._reported or frozenset()
        if not changes and self._reported == frozenset(found):
            return
        self._reported = frozenset(found)
        fresh = [one for one in found if one not in known]
        edits: list[Any] = []
        words = ""
        if changes:
            (old, _), (_, new) = changes[0], changes[-1]
            words = f"{_difference(old, new)}: "
            pending = {(edit.name, edit.weakened) for edit in old.pending_changes}
            edits = [e for e in new.pending_changes if (e.name, e.weakened) not in pending]
            # An edit that waits is shown as its difference.
            fresh = [one for one in fresh if one.code != Code.WEAKENED_POLICY]
        if fresh:
            err(full(fresh, lines_below(self._workspace.settings.root)))
        at = paint(time.strftime("%H:%M:%S"), "dim", sys.stderr)
        tools = plural(len(self._workspace.tools), "tool")
        skills = plural(len(self._workspace.skills), "skill")
        wrong = paint(plural(len(found), "finding"), "yellow", sys.stderr) if found else "all well"
        err(f"{at} {printable(words)}{tools}, {skills}, {wrong}")
        for edit in edits:
            err(paint(f"{edit.name}: this edit weakens its policy, so it waits", "yellow"))
            for line in edit.diff.splitlines():
                err(f"  {paint(printable(line), 'red' if line[0] == '-' else 'green')}")
            err(help_line(f"toolmd accept {edit.name}"))


def _difference(old: Any, new: Any) -> str:
    """Return which definitions are new, gone or changed: `new: pay; gone: refund`."""
    before, after = (
        {one.name: (one.hash, one.stale, one.target)
         for one in (*registry.tools.values(), *registry.skills.values())}
        for registry in (old, new)
    )  # fmt: skip
    groups = {
        "new": after.keys() - before.keys(),
        "gone": before.keys() - after.keys(),
        "changed": {name for name in after.keys() & before.keys() if after[name] != before[name]},
    }
    lists = (f"{kind}: {', '.join(sorted(names))}" for kind, names in groups.items() if names)
    return "; ".join(lists) or "read again"


def dev(
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="A loopback address of this machine.")
    ] = "127.0.0.1",
    port: PortOption = PORT,
    user: UserOption = None,
    context: ContextOption = None,
    trust_edits: TrustEditsOption = False,
    project: Path | None,
) -> None:
    """Watch the files, and serve console, API and MCP.

    Prints the link to the console (docs/how-to/dev-server.md). Calls use the caller of --user and
    --context. Ctrl-C lets calls in flight finish; a second one exits at once. Needs the extras
    `server` and, for MCP, `mcp`: pip install 'toolmd[server,mcp]'.
    """
    if not _is_loopback(host):
        help_ = "`toolmd serve --transport http --host` is for other machines"
        stop(ExitCode.USAGE, f"dev listens only on this machine, not on {host}", help_)
    from toolmd._auth import ALL_RIGHTS
    from toolmd._cli.serving import HttpPlan, enter, opened, serve_plan
    from toolmd._http import require_server

    require_server()
    # Check the settings first: the link must not lead to a project that can't be read.
    settings = load_settings(project)
    overrides = {"trust_edits": "true"} if trust_edits else {}
    plan = HttpPlan(
        str(settings.root), overrides, Caller(user, context_of(context)), host, port,
        tuple(ALL_RIGHTS), follow=True, reads_tokens=False,
    )  # fmt: skip
    plan, listening = enter(plan, settings)
    out(f"{paint('Console', 'bold')}  {plan.url}/enter#token={plan.token}")
    out(f"API      {plan.url}/api    MCP  {plan.url}/mcp")
    out(f"Token: {plan.token}")
    out(f"Try      {plan.first_request}")
    sys.stdout.flush()
    with opened(plan) as (workspace, source):
        report = LiveReport(workspace)
        workspace.on_change(report.changed)
        workspace.on_checked(report.checked)
        serve_plan(plan, listening, workspace, source, begins=workspace.check_soon)
    err("Stopped.")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


POLL_S = 0.2
"""How often the main thread looks for a signal, in seconds."""


def worker(*, project: Path | None) -> None:
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
    with open_workspace(project, traces=True) as workspace:
        if not workspace.runs.start_sync():
            help_ = 'set store = "sqlite", or a postgresql:// URL'
            stop(ExitCode.USAGE, 'runs are in memory only (store = "memory")', help_)
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
    from toolmd._cli.serving import end_at_interrupt

    serve_editor(ready=end_at_interrupt)
