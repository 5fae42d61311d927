"""Read and accept the tools of servers and the operations of services."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._cli.files import STDIN, definitions_among, shown
from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import read_stdin
from toolmd._types.imported import Draft, Imported
from toolmd._types.remote_tool import read_remote_tool
from toolmd.config import find_project, load_settings
from toolmd.errors import NotFoundError, UnreachableError

WANTED = "the definitions to import"
_SKILL_FILE = "SKILL.md"
_PROMPTS = ("*.md", "*.prompt", "*.prompty")
_FETCH_S = 30


def texts_of(kind: str, source: str) -> Iterator[tuple[str, str]]:
    """Return the name and the text of each document of the source."""
    if kind == "python":
        from toolmd._import.python import list_functions

        yield source, list_functions(source)
        return
    if source == STDIN:
        yield "<stdin>", _decoded(read_stdin(WANTED), "<stdin>")
        return
    path = Path(source)
    if kind == "agentskills" and path.is_dir():
        found = sorted(path.rglob(_SKILL_FILE)) or _with_front_matter(path)
        if not found:
            raise NotFoundError(f"{source}: no {_SKILL_FILE} and no prompt in this folder")
        for file in found:
            yield str(file), _decoded(file.read_bytes(), str(file))
    elif path.is_file():
        yield source, _decoded(path.read_bytes(), source)
    elif kind == "openapi" and source.startswith(("http://", "https://")):
        yield source, _decoded(_fetched(source), source)
    elif kind == "mcp" and _is_server(source):
        from toolmd._gateway.live import list_tools

        yield source, list_tools(source)
    else:
        raise NotFoundError(f"{source}: no such file")


def _with_front_matter(folder: Path) -> list[Path]:
    """Return the agents, commands and prompts of a folder: texts that begin with front matter."""
    found = sorted(file for pattern in _PROMPTS for file in folder.rglob(pattern))
    return [file for file in found if file.read_bytes().lstrip(b"\xef\xbb\xbf")[:3] == b"---"]


def _fetched(url: str) -> bytes:
    from urllib.request import urlopen

    from toolmd._import.openapi import MAX_BYTES

    try:
        with urlopen(url, timeout=_FETCH_S) as answer:  # noqa: S310 - http and https only
            data: bytes = answer.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UnreachableError(f"{url}: {error}") from error
    return data


def _is_server(source: str) -> bool:
    import shlex
    import shutil

    from toolmd._gateway.live import is_url

    if is_url(source):
        return True
    try:
        words = shlex.split(source)
    except ValueError:
        return False
    return bool(words) and shutil.which(words[0]) is not None


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        help_ = "save it as UTF-8"
        stop(ExitCode.FINDINGS, f"{name}: byte {error.start} is not UTF-8", help_)


_URLS = ("http://", "https://")


def read_document(
    source: str, folder: Path | None, named: str, only: list[str]
) -> tuple[Imported, list[Any], Mapping[str, Mapping[str, str]]]:
    """Return the drafts of a document, the tables of its services, and their operations."""
    from toolmd._import.openapi import read_service

    ((name, text),) = texts_of("openapi", source)
    imported, tables = read_service(text, name, named, only)
    place = _document_of(name, folder)
    made = [table._replace(document=place) for table in tables]
    return imported, made, _published_of(text, imported.drafts)


def _document_of(name: str, folder: Path | None) -> str:
    """Return a document's path or URL as the settings name it; empty for standard input."""
    if name.startswith(_URLS):
        return name
    path, root = Path(name).absolute(), load_settings(folder).root.absolute()
    if not path.exists():
        return ""  # standard input
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _published_of(text: str, drafts: Sequence[Draft]) -> Mapping[str, Mapping[str, str]]:
    """Return what a document says of each operation that a draft calls, by service."""
    from toolmd._gateway.services import key_of
    from toolmd._import.openapi import definitions_of
    from toolmd._types.operation import read_operation

    published = definitions_of(text)
    found: dict[str, dict[str, str]] = {}
    for draft in drafts:
        operation = read_operation(draft.implemented_by)
        if operation is not None and (key := key_of(operation)) in published:
            found.setdefault(operation.service, {})[key] = published[key]
    return found


def accept_operations(
    published: Mapping[str, Mapping[str, str]], folder: Path | None, left_out: Iterable[Draft]
) -> None:
    """Accept the imported operations: calls are denied once the document changes them.

    The operations of the drafts that were left out are not accepted.
    """
    from toolmd._gateway.services import Services, key_of
    from toolmd._store.store import Store
    from toolmd._types.operation import read_operation

    if not published:
        return
    settings = load_settings(folder)
    store = Store(settings.store, settings.state)
    try:
        operations = [read_operation(draft.implemented_by) for draft in left_out]
        unwritten = {(one.service, key_of(one)) for one in operations if one is not None}
        for name, definitions in published.items():
            accepted = {
                key: one for key, one in definitions.items() if (name, key) not in unwritten
            }
            Services(settings, store).accept(name, accepted)
    finally:
        store.close()


def services_of(settings: Any, document: str) -> list[str]:
    """Return the services of one document; the first has the name that the others begin with."""
    tables = settings.services.items()
    return sorted(name for name, table in tables if document and table.document == document)


def look_at_service(
    settings: Any, name: str, operations: Mapping[str, Mapping[str, str]], *, accept: bool
) -> dict[str, Any]:
    """Read a service's document; return its state as `look_at_server` does.

    An operation without a file is listed with the first service of its document only.

    Args:
        settings: The project's settings.
        name: The service's name there.
        operations: By service, the tool of each operation that a file names.
        accept: Whether to accept the operations with a file as they are now.
    """
    from toolmd._gateway.services import Services
    from toolmd._import.functions import UnreadableSourceError
    from toolmd._import.openapi import definitions_of
    from toolmd._store.store import Store

    document, published = settings.services[name].document, None
    row: dict[str, Any] = {"server": name, "state": "running", "problem": None, "tools": []}
    try:
        if document:
            place = document if document.startswith(_URLS) else str(settings.root / document)
            ((_, text),) = texts_of("openapi", place)
            published = definitions_of(text)
    except (NotFoundError, UnreachableError, UnreadableSourceError) as error:
        return {**row, "state": "unreachable", "problem": str(error)}
    same = services_of(settings, document)
    elsewhere = {key for one in same if one != name for key in operations.get(one, ())}
    if same and name != same[0]:
        elsewhere |= set(published or ())
    store = Store(settings.store, settings.state)
    try:
        files, services = operations.get(name, {}), Services(settings, store)
        found = services.look(name, files, published, elsewhere=elsewhere, accept=accept)
        return {**row, "tools": found}
    finally:
        store.close()


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


def add_table(table: Any, folder: Path | None) -> str:
    """Add a table to the settings, and return what was done; one of that name stays as it is."""
    settings = load_settings(folder)
    file = settings.file or settings.root / "toolmd.toml"
    if table.name in getattr(settings, table.section):
        return f"{shown(file)} has [{table.section}.{table.name}] already: it stays as it is"
    prefix = "tool.toolmd." if file.name == "pyproject.toml" else ""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    gap = "\n" if before.strip() else ""
    file.write_text(f"{before}{gap}{table.text(prefix)}", encoding="utf-8")
    return f"[{prefix}{table.section}.{table.name}] was added to {shown(file)}"
