"""Serve a project over HTTP by a plan, which a process can pass on to others."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import err
from toolmd._cli.server.reloading import following, reload_at_hangup
from toolmd._cli.server.serving import (
    ON_STDERR,
    Entrance,
    Told,
    first_request,
    listen,
    own_token,
    run,
    serve_workspace,
)
from toolmd._types.call import Caller

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
    from toolmd._auth import Addresses, Tokens

    workspace, source = serves
    tokens = Tokens(
        lambda: workspace.settings.serve.tokens,
        own=plan.token,
        caller=Caller(plan.user, plan.context),
        may=plan.may or ["call"],
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
