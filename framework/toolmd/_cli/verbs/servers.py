"""`servers`: compare the tools of MCP servers with the accepted ones, and accept changes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.frame import Answer, ExitCode, open_workspace, stop
from toolmd._cli.screen import Paint, paint, plural, printable
from toolmd._cli.upstream import read_published
from toolmd.errors import NotFoundError, UnreachableError

Files = dict[str, dict[str, str]]
"""By server or service, the tool of the project for each tool or operation that a file names."""
_PAINTS: dict[str, Paint] = {"changed": "red", "closed": "yellow", "accepted": "green"}


def servers(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="SERVER", help="A server or a service of the settings; without it, all."
        ),
    ] = None,
    *,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept the tools of SERVER as they are now.")
    ] = False,
    project: Path | None,
) -> Answer:
    """Ask MCP servers and the documents of services for what changed since it was accepted.

    A changed tool is denied until it is accepted; a tool without a file is closed. SERVER may also
    be a service, whose table and `document` are compared. Exit codes: 1 a tool has changed, 5 a
    server does not answer or has no table.
    """
    if accept and name is None:
        stop(ExitCode.USAGE, "--accept needs SERVER", "toolmd servers SERVER --accept")
    from toolmd._gateway.pins import pin_of

    files: Files = {}
    with open_workspace(project) as workspace:
        settings = workspace.settings
        for tool in workspace.tools.values():
            if (pin := pin_of(tool.spec.implemented_by, settings.services)) is not None:
                files.setdefault(pin[0], {})[pin[1]] = tool.name
    found = [*_look(settings, name, files, accept=accept)]
    states = {tool["state"] for server in found for tool in server["tools"]}
    lines = []
    if not found:
        lines = ["The settings have no server: `toolmd import mcp --live NAME -- COMMAND` adds one"]
    if "changed" in states:
        lines.append("Calls of changed tools are denied: `toolmd servers NAME --accept` opens them")
    if "closed" in states:
        lines.append("Closed tools have no file, or one with errors: `toolmd check` shows errors, "
                     "and `toolmd import mcp --live NAME` writes files")  # fmt: skip
    code = ExitCode.FINDINGS if "changed" in states else ExitCode.DONE
    if any(server["state"] == "unreachable" for server in found):
        code = ExitCode.NOT_FOUND
    text = "\n".join(line for server in found for line in _rows(server))
    return Answer(found, text or None, lines, code)


def _look(
    settings: Any, name: str | None, files: Files, *, accept: bool
) -> Iterator[dict[str, Any]]:
    """Yield the state of one server or service, or of each."""
    import asyncio

    from toolmd._gateway.servers import look_at_server

    known = {*settings.servers, *(place for place in files if not place.startswith("["))}
    for one in sorted({*known, *settings.services}) if name is None else [name]:
        if one in settings.services:
            yield _service(settings, one, files.get(f"[services.{one}]", {}), accept=accept)
        if one in known or one not in settings.services:
            own = files.get(one, {})
            yield asyncio.run(look_at_server(settings, one, own, accept=accept))


def _service(settings: Any, name: str, files: dict[str, str], *, accept: bool) -> dict[str, Any]:
    """Read a service's document, and return its state as `look_at_server` does."""
    from toolmd._gateway.services import Services
    from toolmd._import.functions import UnreadableSourceError
    from toolmd._store.store import Store

    document, published = settings.services[name].document, None
    row: dict[str, Any] = {"server": name, "state": "running", "problem": None, "tools": []}
    try:
        if document:
            published = read_published(settings, document)
            # An import chooses among the operations, so those without a file are no news.
            published = {key: text for key, text in published.items() if key in files}
    except (NotFoundError, UnreachableError, UnreadableSourceError) as error:
        return {**row, "state": "unreachable", "problem": str(error)}
    store = Store(settings.store, settings.state)
    try:
        tools = Services(settings, store).look(name, files, published, accept=accept)
        return {**row, "tools": tools}
    finally:
        store.close()


def _rows(server: dict[str, Any]) -> Iterator[str]:
    """Yield the state of a server, and each of its tools that somebody should look at."""
    name, tools = paint(server["server"], "bold"), server["tools"]
    if server["state"] == "unreachable":
        yield f"{name}: {paint('does not answer', 'red')}: {printable(server['problem'])}"
        return
    number = {state: sum(tool["state"] == state for tool in tools) for state in _PAINTS}
    accepted = plural(number["accepted"], "accepted tool")
    without = f"{number['closed']} without a valid file (closed)"
    yield f"{name}: {accepted}, {number['changed']} changed, {without}"
    for tool in tools:
        if tool["state"] != "accepted" or tool["changes"]:
            yield f"  {paint(tool['state'], _PAINTS[tool['state']])} {printable(tool['tool'])}"
            yield from (f"    {printable(line)}" for line in tool["changes"])
