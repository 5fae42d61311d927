"""`servers`: compare the tools of MCP servers with the accepted ones, and accept changes."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.frame import Answer, ExitCode, open_workspace, stop
from toolmd._cli.screen import counted, paint, printable
from toolmd._cli.upstream import published_in
from toolmd._types.diagnostic import Severity
from toolmd.errors import NotFoundError, UnreachableError

Files = dict[str, dict[str, str]]
"""By server or service, the tool of the project for each tool or operation that a file names."""


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
        paths = {tool.name: tool.spec.source.path for tool in workspace.tools.values()}
        broken = _broken(workspace)
    found = _looks(settings, name, files, accept=accept)
    text: list[str] = []
    lines: list[str] = []
    for server in found:
        text += _rows(server)
        lines += _remedies(server, paths, _importing(settings, server["server"]), accepted=accept)
        lines += _broken_files(server, broken)
    if not found:
        adds = "`toolmd import mcp --live NAME -- COMMAND` adds one."
        lines = [f"The settings have no server: {adds}"]
    code = ExitCode.DONE
    if any(tool["state"] == "changed" for server in found for tool in server["tools"]):
        code = ExitCode.FINDINGS
    if any(server["state"] == "unreachable" for server in found):
        code = ExitCode.NOT_FOUND
    return Answer(found, "\n".join(text) or None, lines, code)


def _looks(settings: Any, name: str | None, files: Files, *, accept: bool) -> list[dict[str, Any]]:
    """Return the state of one server or service, or of all."""
    import asyncio

    from toolmd._gateway.servers import look_at_server

    services = [one for one in sorted(settings.services) if name in {one, None}]
    known = {*settings.servers, *(place for place in files if not place.startswith("["))}
    names = sorted(known) if name is None else [name] if name in known or not services else []
    found = [_service(settings, one, files, accept=accept) for one in services]
    for one in names:
        look = look_at_server(settings, one, files.get(one, {}), accept=accept)
        found.append(asyncio.run(look))
    return found


def _service(settings: Any, name: str, files: Files, *, accept: bool) -> dict[str, Any]:
    """Read a service's document, and return its state as `look_at_server` does.

    An operation without a file is listed with the first service of its document only.
    """
    from toolmd._gateway.services import Services
    from toolmd._import.functions import UnreadableSourceError
    from toolmd._store.store import Store

    document = settings.services[name].document
    row: dict[str, Any] = {"server": name, "state": "running", "problem": None, "tools": []}
    try:
        published = published_in(settings, document) if document else None
    except (NotFoundError, UnreachableError, UnreadableSourceError) as error:
        return {**row, "state": "unreachable", "problem": str(error)}
    first, *others = _services_of(settings, document) or [name]
    elsewhere = {key for one in (first, *others) if one != name
                 for key in files.get(f"[services.{one}]", ())}  # fmt: skip
    if name != first:
        elsewhere |= set(published or ())
    store = Store(settings.store, settings.state)
    try:
        own = files.get(f"[services.{name}]", {})
        look = Services(settings, store).look
        return {**row, "tools": look(name, own, published, elsewhere=elsewhere, accept=accept)}
    finally:
        store.close()


def _services_of(settings: Any, document: str) -> list[str]:
    """Return the services of one document; the first has the name that the others begin with."""
    tables = settings.services.items()
    return sorted(name for name, table in tables if document and table.document == document)


def _importing(settings: Any, name: str) -> str:
    """Return the command that writes files for the tools of a server or a service."""
    if name not in settings.services:
        return f"toolmd import mcp --live {name}"
    document = settings.services[name].document
    first = next(iter(_services_of(settings, document)), name)
    return f"toolmd import openapi {document or 'DOCUMENT'} --service {first} --only PATH"


def _of_state(server: dict[str, Any], state: str) -> list[dict[str, Any]]:
    return [tool for tool in server["tools"] if tool["state"] == state]


def _rows(server: dict[str, Any]) -> Iterator[str]:
    """Yield the state of a server and of its tools."""
    name = paint(server["server"], "bold")
    if server["state"] == "unreachable":
        yield f"{name}: {paint('does not answer', 'red')}: {printable(server['problem'])}"
        return
    changed, closed = _of_state(server, "changed"), _of_state(server, "closed")
    accepted = counted(len(_of_state(server, "accepted")), "accepted tool")
    yield f"{name}: {accepted}, {len(changed)} changed, {len(closed)} without a valid file (closed)"
    for tool in changed:
        yield f"  {paint('changed', 'red')} {printable(tool['tool'])}"
        yield from (f"    {printable(line)}" for line in tool["changes"])
    yield from (f"  {paint('closed', 'yellow')} {printable(tool['tool'])}" for tool in closed)


def _remedies(
    server: dict[str, Any], paths: dict[str, str], importing: str, *, accepted: bool
) -> Iterator[str]:
    """Yield how to open changed and closed tools, and which files accepted changes concern."""
    if _of_state(server, "changed"):
        yield f"Calls of changed tools are denied: `toolmd servers {server['server']} --accept`."
    elif accepted and server["state"] == "running":
        yield f"{server['server']}: its tools are accepted as they are now."
        stale = [tool for tool in server["tools"] if tool["changes"]]
        for tool in stale:
            if path := paths.get(tool["file"] or "", ""):
                yield f"{printable(path)} was written before these changes:"
                yield from (f"  {printable(line)}" for line in tool["changes"])
        if stale:
            writes = f"`{importing}` writes it again."
            yield f"Edit the file where they concern it; or remove it, and {writes}"
    if _of_state(server, "closed"):
        yield f"`{importing}` writes files for the closed tools."


def _broken(workspace: Any) -> dict[str, set[str]]:
    """Return the lines of each tool's file that has errors, by its path."""
    paths = {d.span.path for d in workspace.diagnostics if d.severity is Severity.ERROR}
    found: dict[str, set[str]] = {}
    for path in sorted(path for path in paths if path.endswith(".tool.md")):
        with suppress(OSError):
            text = (workspace.settings.root / path).read_text("utf-8", "replace")
            found[path] = {line.strip() for line in text.split("\n")}
    return found


def _broken_files(server: dict[str, Any], broken: dict[str, set[str]]) -> Iterator[str]:
    """Yield the files that name a closed tool and have errors: another import is no remedy."""
    for tool in _of_state(server, "closed"):
        method, _, path = tool["tool"].partition(" ")
        place = f"http {method} {server['server']}:{path}" if path.startswith("/") else ""
        place = place or f"mcp {server['server']} {tool['tool']}"
        for file, lines in broken.items():
            if any(line.endswith(place) for line in lines):
                yield f"{printable(tool['tool'])} has a file with errors: `toolmd check {file}`"
