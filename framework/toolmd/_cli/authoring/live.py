"""Import the tools of a server that stays: each draft calls the server's tool."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._cli.files import definitions_among
from toolmd._cli.frame import ExitCode, stop
from toolmd._types.imported import Draft, Imported
from toolmd._types.remote_tool import read_remote_tool
from toolmd.config import find_project, load_settings


class Live(NamedTuple):
    """What a live server has, as far as no file names it."""

    server: Any
    """Its table."""
    imported: Imported
    definitions: Mapping[str, str]
    """The definition of each tool that is imported, by the server's name of it."""


def read_live_server(
    name: str, url: str, command: list[str], folder: Path | None, *, force: bool
) -> Live:
    """Start or reach a server and read its tools.

    Without a URL and a command, the server is that of the settings. With `force`, drafts that
    wait for a decision are written again.
    """
    from toolmd._gateway.live import LiveServer, read_live, table_of

    if read_remote_tool(f"mcp {name} tool") is None:
        stop(ExitCode.USAGE, f"{name!r} is not a name", "use lower-case letters, digits, _ and -")
    here = Path.cwd().resolve()
    settings = load_settings(folder) if folder or find_project(here) else None
    known = settings.servers.get(name) if settings is not None else None
    given = table_of(url, command) if url or command else None
    if given is None and known is None:
        help_ = "name its --url, or its command after `--`"
        stop(ExitCode.USAGE, f"the settings have no server {name!r}", help_)
    if given and known and (given.url, given.command) != (known.url, known.command):
        help_ = "leave out the command, change the table in the settings, or take another name"
        stop(ExitCode.USAGE, f"the settings have another server {name!r}", help_)
    table = known or given
    assert table is not None
    server = LiveServer(name, table)
    imported, definitions = read_live(server, settings.root if settings is not None else here)
    there = _there(folder, waiting=not force) if settings is not None else {}
    drafts = tuple(one for one in imported.drafts if _tool_of(one) not in there.get(name, ()))
    new = {_tool_of(one) for one in drafts}
    added = {tool: text for tool, text in definitions.items() if tool in new}
    named = {"", *(one.name for one in drafts)}
    notes = tuple(note for note in imported.notes if note.definition in named and drafts)
    return Live(server, Imported(drafts, notes, imported.refused), added)


def accept_tools(live: Live, folder: Path | None, left_out: Iterable[Draft]) -> None:
    """Accept the imported definitions: calls are denied once the server changes them.

    The definitions of the drafts that were left out are not accepted.
    """
    from toolmd._gateway.servers import Servers
    from toolmd._store.store import Store

    settings = load_settings(folder)
    store = Store(settings.store, settings.state)
    try:
        unwritten = {_tool_of(one) for one in left_out}
        accepted = {name: one for name, one in live.definitions.items() if name not in unwritten}
        Servers(settings, store).accept(live.server.name, accepted)
    finally:
        store.close()


def _tool_of(draft: Draft) -> str:
    """Return the server's tool that a draft names."""
    remote = read_remote_tool(draft.implemented_by)
    return remote.tool if remote is not None else ""


def _there(folder: Path | None, *, waiting: bool) -> Mapping[str, set[str]]:
    """Return the tools that files of the project name already, by server.

    A draft that waits for a decision is no tool yet: it counts if `waiting` is True.
    """
    from toolmd._workspace import Workspace

    found: dict[str, set[str]] = {}
    with Workspace.open(folder) as workspace:
        for tool in workspace.tools.values():
            remote = read_remote_tool(tool.spec.implemented_by)
            if remote is not None:
                found.setdefault(remote.server, set()).add(remote.tool)
        settings = workspace.settings
        folders = [settings.root / place for place in settings.tools if waiting]
        for file in definitions_among(str(one) for one in folders if one.is_dir()):
            text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
            if (remote := read_remote_tool(Draft("tool", "", text).implemented_by)) is not None:
                found.setdefault(remote.server, set()).add(remote.tool)
    return found
