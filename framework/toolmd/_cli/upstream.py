"""Read the sources of an import: files, URLs, modules, and the tools of running servers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolmd._cli.files import STDIN, definitions_among, path_here
from toolmd._cli.frame import ExitCode, stop
from toolmd._cli.screen import read_stdin
from toolmd._types.imported import Draft, Imported, Note
from toolmd._types.remote import read_remote_tool
from toolmd.config import find_project, load_settings
from toolmd.errors import ConfigError, NotFoundError, UnreachableError

WANTED = "the definitions to import"
_SKILL_FILE = "SKILL.md"
_PROMPTS = ("*.md", "*.prompt", "*.prompty")
_FETCH_S = 30
_URLS = ("http://", "https://")


@dataclass
class Import:
    """The files of one import, and what is reported of them."""

    files: dict[str, str | bytes] = field(default_factory=dict)
    """The content of each file by its path below the folder of definitions."""
    executable: set[str] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    refused: list[Note] = field(default_factory=list)
    folder: Path | None = None
    """Where the files belong; None for the project's folder."""
    tables: list[Any] = field(default_factory=list)
    """The tables of servers and services for the settings."""
    published: dict[str, str] = field(default_factory=dict)
    """The definition of each remote tool or operation, by its name there."""
    origins: dict[str, str] = field(default_factory=dict)
    """The document that each file was drafted from."""

    def add(self, imported: Imported, document: str = "") -> bool:
        """Add the drafts of one document; of two with the same name, keep the first.

        Returns:
            Whether a draft was added.
        """
        before = len(self.files)
        for draft in imported.drafts:
            file = f"{draft.name.replace('_', '-')}.{draft.kind}.md"
            if file in self.files:
                said = f"a second {draft.kind} of this name; the first one was imported"
                first = self.origins.get(file, "")
                own = f" (the first is in {first}, this one in {document})" if first else ""
                self.refused.append(Note(draft.name, "", said + own))
            self.files.setdefault(file, draft.text)
            self.origins.setdefault(file, document)
        self.notes += imported.notes
        self.refused += imported.refused
        return len(self.files) > before

    def add_folder(self, source: str, name: str) -> None:
        """Add the files of a SKILL.md's folder, which are copied next to its definition."""
        from toolmd._workspace.skill_folders import SKILL_FILE, read_folder

        file, stem = Path(source), name.replace("_", "-")
        if file.name.upper() != SKILL_FILE.upper() or not file.is_file():
            return
        found = read_folder(file.parent)
        for path, place in found.files.items():
            self.files[f"{stem}/{path}"] = place.read_bytes()
            if place.stat().st_mode & 0o100:
                self.executable.add(f"{stem}/{path}")
        self.notes += [Note(name, "", text) for text in found.left_out]


def texts_of(kind: str, source: str, unread: list[Note]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each document of the source.

    A file of a folder that can't be read goes to `unread`, and does not stop the others.
    """
    if kind == "python":
        from toolmd._import.python import list_functions

        yield source, list_functions(source)
        return
    if source == STDIN:
        yield "<stdin>", _decode(read_stdin(WANTED), "<stdin>")
        return
    path = Path(source)
    if kind == "agentskills" and path.is_dir():
        every = path.rglob("*.md")
        found = sorted(file for file in every if file.name.upper() == _SKILL_FILE.upper())
        found = found or _with_front_matter(path)
        if not found:
            raise NotFoundError(f"{source}: no {_SKILL_FILE} and no prompt in this folder")
        for file in found:
            try:
                text = file.read_bytes().decode("utf-8-sig")
            except UnicodeDecodeError as error:
                said = f"byte {error.start} is not UTF-8: save it as UTF-8"
                unread.append(Note(str(file), "", said))
            except OSError as error:
                unread.append(Note(str(file), "", f"can't be read: {error.strerror}"))
            else:
                yield str(file), text
    elif path.is_file():
        yield source, _decode(path.read_bytes(), source)
    elif kind == "openapi" and source.startswith(_URLS):
        yield source, _decode(_fetch(source), source)
    elif kind == "mcp" and _is_server(source):
        from toolmd._gateway.live import list_tools

        yield source, list_tools(source)
    else:
        raise NotFoundError(f"{source}: no such file")


def _with_front_matter(folder: Path) -> list[Path]:
    """Return the agents, commands and prompts of a folder: texts that begin with front matter."""
    found = sorted(file for pattern in _PROMPTS for file in folder.rglob(pattern))
    return [file for file in found if file.read_bytes().lstrip(b"\xef\xbb\xbf")[:3] == b"---"]


def _fetch(url: str) -> bytes:
    from urllib.request import urlopen

    from toolmd._import.openapi_document import MAX_BYTES

    try:
        with urlopen(url, timeout=_FETCH_S) as answer:  # noqa: S310 - http and https only
            data: bytes = answer.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UnreachableError(f"{url}: {error}") from error
    return data


def _is_server(source: str) -> bool:
    import shlex
    import shutil

    if source.startswith(_URLS):
        return True
    try:
        words = shlex.split(source)
    except ValueError:
        return False
    return bool(words) and shutil.which(words[0]) is not None


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        help_ = "save it as UTF-8"
        stop(ExitCode.FINDINGS, f"{name}: byte {error.start} is not UTF-8", help_)


def read_document(source: str, folder: Path | None, named: str, only: list[str]) -> Import:
    """Read the operations of a document, with the tables of its services."""
    from toolmd._import.openapi import read_service
    from toolmd._import.openapi_document import definitions_of

    ((name, text),) = texts_of("openapi", source, [])
    imported, tables = read_service(text, name, named, only)
    place = name
    if not name.startswith(_URLS):
        path, root = Path(name).absolute(), load_settings(folder).root.absolute()
        place = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        place = place if path.exists() else ""  # standard input
    placed = [table._replace(document=place) for table in tables]
    found = Import(tables=placed, published=dict(definitions_of(text)))
    found.add(imported)
    return found


def read_published(settings: Any, document: str) -> dict[str, str]:
    """Read the operations of a service's document; empty for a service without one."""
    from toolmd._import.openapi_document import definitions_of

    place = document if document.startswith(_URLS) else str(settings.root / document)
    ((_, text),) = texts_of("openapi", place, [])
    return dict(definitions_of(text))


def read_live_server(
    name: str, url: str, command: list[str], folder: Path | None, *, force: bool
) -> Import:
    """Start or reach a server, and read its tools as far as no file names them.

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
    if given and known and (given.url, given.command) != (known.url, known.command):
        help_ = "leave out the command, change the table in the settings, or take another name"
        stop(ExitCode.USAGE, f"the settings have another server {name!r}", help_)
    if (table := known or given) is None:
        help_ = "name its --url, or its command after `--`"
        stop(ExitCode.USAGE, f"the settings have no server {name!r}", help_)
    server = LiveServer(name, table)
    imported, definitions = read_live(server, settings.root if settings is not None else here)
    there = _list_named_by_files(folder, waiting=not force) if settings is not None else set()
    drafts = tuple(one for one in imported.drafts if one.implemented_by not in there)
    names = {"", *(one.name for one in drafts)}
    notes = tuple(note for note in imported.notes if note.definition in names and drafts)
    found = Import(tables=[server], published=dict(definitions))
    found.add(Imported(drafts, notes, imported.refused))
    return found


def _list_named_by_files(folder: Path | None, *, waiting: bool) -> set[str]:
    """Return the tools of servers that files of the project name already.

    A draft that waits for a decision is no tool yet: it counts if `waiting` is True.
    """
    from toolmd._workspace import Workspace

    with Workspace.open(folder) as workspace:
        named = [tool.spec.implemented_by for tool in workspace.tools.values()]
        settings = workspace.settings
    folders = [settings.root / place for place in settings.tools if waiting]
    for file in definitions_among(str(one) for one in folders if one.is_dir()):
        text = file.read_text("utf-8", errors="replace") if file.is_file() else ""
        named.append(Draft("tool", "", text).implemented_by)
    return {str(read_remote_tool(one)) for one in named if one}


def accept_written(found: Import, folder: Path | None) -> None:
    """Accept what the written files call: calls are denied once a server or a document changes."""
    from toolmd._gateway.pins import pin_of
    from toolmd._store.store import Store

    if not found.published:
        return
    settings = load_settings(folder)
    accepted: dict[str, dict[str, str]] = {}
    for text in found.files.values():
        named = Draft("tool", "", text).implemented_by if isinstance(text, str) else ""
        place, name = pin_of(named, settings.services) or ("", "")
        if name in found.published:
            accepted.setdefault(place, {})[name] = found.published[name]
    store = Store(settings.store, settings.state)
    try:
        for place, definitions in accepted.items():
            store.pins.accept(place, definitions)
    finally:
        store.close()


def add_table(table: Any, folder: Path | None) -> str:
    """Add a table to the settings, and return what was done; one of that name stays as it is."""
    settings = load_settings(folder)
    file = settings.file or settings.root / "toolmd.toml"
    if table.name in getattr(settings, table.section):
        return f"{path_here(file)} has [{table.section}.{table.name}] already: it stays as it is"
    prefix = "tool.toolmd." if file.name == "pyproject.toml" else ""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    gap = "\n" if before.strip() else ""
    file.write_text(f"{before}{gap}{table.text(prefix)}", encoding="utf-8")
    try:
        load_settings(folder)
    except ConfigError as error:
        # Every command reads the settings: one that can't be read would stop them all.
        file.write_text(before, encoding="utf-8")
        return f"[{prefix}{table.section}.{table.name}] was not added to {path_here(file)}: {error}"
    return f"[{prefix}{table.section}.{table.name}] was added to {path_here(file)}"
