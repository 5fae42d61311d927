"""`servers`: compare the tools of MCP servers with the accepted ones, and accept changes."""

from contextlib import suppress
from typing import Annotated, Any

import typer

from toolmd._cli.frame import ExitCode, JsonOption, ProjectOption, open_workspace, stop
from toolmd._cli.screen import busy, counted, err, out, out_json, paint, printable
from toolmd._cli.upstream import look_at_service, services_of
from toolmd._types.diagnostic import Severity
from toolmd._types.remote_tool import read_remote_tool


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
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Ask MCP servers and the documents of services for what changed since it was accepted.

    A changed tool is denied until it is accepted; a tool without a file is closed. SERVER may also
    be a service, whose table and `document` are compared. Exit codes: 1 a tool has changed, 5 a
    server does not answer or has no table.
    """
    if accept and name is None:
        stop(ExitCode.USAGE, "--accept needs SERVER", "toolmd servers SERVER --accept")
    with open_workspace(project) as workspace:
        settings, files = workspace.settings, _files(workspace)
        operations = _operations(workspace)
        paths = {name: tool.spec.source.path for name, tool in workspace.tools.items()}
        broken = _broken(workspace)
    found = _looks(settings, name, (files, operations), accept=accept)
    if json:
        out_json(found)
    else:
        for server in found:
            _tell(server, paths, _importing(settings, server["server"]), accepted=accept)
            _tell_broken(server, broken)
        if not found:
            err("The settings have no server: `toolmd import mcp --live NAME -- COMMAND` adds one.")
    if any(server["state"] == "unreachable" for server in found):
        raise typer.Exit(ExitCode.NOT_FOUND)
    if any(tool["state"] == "changed" for server in found for tool in server["tools"]):
        raise typer.Exit(ExitCode.FINDINGS)


def _looks(
    settings: Any, name: str | None, tools: tuple[Any, Any], *, accept: bool
) -> list[dict[str, Any]]:
    """Return the state of one server or service, or of all; `tools` are those with a file."""
    import asyncio

    from toolmd._gateway.servers import look_at_server

    files, operations = tools
    services = sorted(one for one in settings.services if name in {one, None})
    names = [name] if name is not None else sorted({*settings.servers, *files})
    if services and name is not None and name not in {*settings.servers, *files}:
        names = []
    found: list[dict[str, Any]] = []
    for one in services:
        with busy(f"Reading the document of {one}"):
            found.append(look_at_service(settings, one, operations, accept=accept))
    for one in names:
        with busy(f"Asking {one}"):
            look = look_at_server(settings, one, files.get(one, {}), accept=accept)
            found.append(asyncio.run(look))
    return found


def _files(workspace: Any) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name, tool in workspace.tools.items():
        remote = read_remote_tool(tool.spec.implemented_by)
        if remote is not None:
            found.setdefault(remote.server, {})[remote.tool] = name
    return found


def _operations(workspace: Any) -> dict[str, dict[str, str]]:
    from toolmd._gateway.services import key_of, name_of
    from toolmd._types.operation import read_operation

    found: dict[str, dict[str, str]] = {}
    for name, tool in workspace.tools.items():
        operation = read_operation(tool.spec.implemented_by or "")
        if operation is not None:
            service = name_of(operation, workspace.settings.services)
            found.setdefault(service, {})[key_of(operation)] = name
    return found


def _importing(settings: Any, name: str) -> str:
    """Return the command that writes files for the tools of a server or a service."""
    if name not in settings.services:
        return f"toolmd import mcp --live {name}"
    document = settings.services[name].document
    first = next(iter(services_of(settings, document)), name)
    return f"toolmd import openapi {document or 'DOCUMENT'} --service {first} --only PATH"


def _tell(server: dict[str, Any], paths: dict[str, str], importing: str, *, accepted: bool) -> None:
    name = paint(server["server"], "bold")
    if server["state"] == "unreachable":
        out(f"{name}: {paint('does not answer', 'red')}: {printable(server['problem'])}")
        return
    tools = server["tools"]
    closed = [tool["tool"] for tool in tools if tool["state"] == "closed"]
    changed = [tool for tool in tools if tool["state"] == "changed"]
    told = counted(sum(tool["state"] == "accepted" for tool in tools), "accepted tool")
    out(f"{name}: {told}, {len(changed)} changed, {len(closed)} without a valid file (closed)")
    for tool in changed:
        out(f"  {paint('changed', 'red')} {printable(tool['tool'])}")
        for line in tool["changes"]:
            out(f"    {printable(line)}")
    for tool in closed:
        out(f"  {paint('closed', 'yellow')} {printable(tool)}")
    if changed:
        err(f"Calls of changed tools are denied: `toolmd servers {server['server']} --accept`.")
    elif accepted:
        err(f"{server['server']}: its tools are accepted as they are now.")
        _tell_stale([tool for tool in tools if tool["changes"]], paths, importing)
    if closed:
        err(f"`{importing}` writes files for the closed tools.")


def _broken(workspace: Any) -> dict[str, set[str]]:
    """Return the lines of each tool's file that has errors, by its path."""
    paths = {d.span.path for d in workspace.diagnostics if d.severity is Severity.ERROR}
    found: dict[str, set[str]] = {}
    for path in sorted(path for path in paths if path.endswith(".tool.md")):
        with suppress(OSError):
            text = (workspace.settings.root / path).read_text("utf-8", "replace")
            found[path] = {line.strip() for line in text.split("\n")}
    return found


def _tell_broken(server: dict[str, Any], broken: dict[str, set[str]]) -> None:
    """Name the files that name a closed tool and have errors: to import it again is no remedy."""
    for tool in server["tools"]:
        method, _, path = tool["tool"].partition(" ")
        place = f"http {method} {server['server']}:{path}" if path.startswith("/") else ""
        place = place or f"mcp {server['server']} {tool['tool']}"
        for file, lines in broken.items() if tool["state"] == "closed" else ():
            if any(line.endswith(place) for line in lines):
                err(f"{printable(tool['tool'])} has a file with errors: `toolmd check {file}`")


def _tell_stale(tools: list[dict[str, Any]], paths: dict[str, str], importing: str) -> None:
    """Name the files of accepted changes: they still say what the server said before."""
    for tool in tools:
        path = paths.get(tool["file"] or "", "")
        if path:
            err(f"{printable(path)} was written before these changes:")
            for line in tool["changes"]:
                err(f"  {printable(line)}")
    if tools:
        err(
            f"Edit the file where they concern it; or remove it, and `{importing}` writes it again."
        )
