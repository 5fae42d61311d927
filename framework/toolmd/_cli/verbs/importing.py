"""`import`: write drafts of definitions from other formats."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.authoring.decided import drop_decided
from toolmd._cli.authoring.existing import HELP, is_there, leave_out
from toolmd._cli.authoring.imported_by_plugin import checked_names, read_by_plugin
from toolmd._cli.authoring.live import Live, accept_tools, read_live_server
from toolmd._cli.authoring.services import accept_operations, read_document
from toolmd._cli.authoring.sources import texts_of
from toolmd._cli.authoring.tables import add_table
from toolmd._cli.files import STDIN, shown
from toolmd._cli.frame import ExitCode, JsonOption, ProjectOption, stop
from toolmd._cli.reports.imported import tell_imported
from toolmd._cli.screen import busy
from toolmd._types.imported import Draft, Imported, Note
from toolmd._types.settings import DEFAULT_SKILLS, DEFAULT_TOOLS
from toolmd.config import find_project, load_settings

KindArgument = Annotated[
    str,
    typer.Argument(
        metavar="KIND", help="python, openapi, openai, mcp, agentskills, or a plugin's."
    ),
]
SourceArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE",
        help="A file; `-` is stdin; a module, or module:name,name (python); a folder"
        " (agentskills); a URL (openapi, mcp); a server's command (mcp).",
    ),
]
LiveOption = Annotated[
    str,
    typer.Option(metavar="NAME", help="Call the server from now on (mcp): -- COMMAND, or --url."),
]
OutDirOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="The folder to write to; default: the project's first."
    ),
]
ServiceOption = Annotated[
    str,
    typer.Option(metavar="NAME", help="The name of the service in the settings (openapi)."),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN", help="Import these tools, paths or tags only (openapi): 'issues_*'."
    ),
]
ModelOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Send the document, and nothing else, to this model, which fills in what could not"
        " be read (catalog). Address and key: as for toolmd chat",
    ),
]


def import_(
    kind: KindArgument,
    source: SourceArgument = None,
    *,
    live: LiveOption = "",
    url: Annotated[str, typer.Option(metavar="URL", help="The URL of the --live server.")] = "",
    out_dir: OutDirOption = None,
    service: ServiceOption = "",
    only: OnlyOption = None,
    model: ModelOption = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Write canonical drafts from the definitions of other programs.

    Each guess is reported on stderr: review the drafts before they run. Parts that can't be
    read are reported, never invented. Definitions whose file exists are left out. With
    `--live NAME -- COMMAND`, the drafts call an MCP server, behind the checks of Toolmd. Exit
    codes: 1 something could not be imported, 5 no MCP server answers. The package toolmd-catalog
    adds `catalog`: prose in markdown. A live MCP server needs the extra `mcp`: pip install
    'toolmd[mcp]'.
    """
    sources = source or []
    _check_sources(kind, sources, live, url)
    imported, server = _nothing(), None
    with nullcontext() if sources == [STDIN] else busy(f"Starting {live}" if live else "Reading"):
        if live:
            server = read_live_server(live, url, sources, project, force=force)
            _add(imported, server.imported)
            imported["tables"] = [server.server]
        else:
            imported |= _read(kind, sources[0], project, (service, only or []), model)
    if project is not None or find_project(Path.cwd().resolve()) is not None:
        drop_decided(imported, load_settings(project).imports.decided)
    if out_dir is None:
        out_dir = imported["folder"]
    target = partial(_target, folder=project, out_dir=out_dir)
    left_out = [] if force else leave_out(imported, target)
    files = {target(name): text for name, text in imported["files"].items()}
    executable = set(map(target, imported["executable"]))
    if imported["folder"] is not None and out_dir is not None and files:
        files |= _made_known(out_dir.resolve(), imported)
    _write(files, executable, force=force)
    _accept(imported, server, project, left_out)
    tell_imported(imported, [shown(path) for path in files], json=json)
    if imported["refused"] or not (files or live):
        raise typer.Exit(ExitCode.FINDINGS)


def _check_sources(kind: str, sources: list[str], live: str, url: str) -> None:
    if (kind != "mcp" or (url and not live)) and (live or url):
        stop(ExitCode.USAGE, "--live and --url belong to mcp", "toolmd import mcp --live NAME")
    if not live and len(sources) != 1:
        what = f"SOURCE is needed once, not {len(sources)} times"
        stop(ExitCode.USAGE, what, "quote a command of several words")


def _accept(
    imported: dict[str, Any], server: Live | None, folder: Path | None, left_out: list[Draft]
) -> None:
    """Add the tables of servers and services to the settings, and accept what they offer.

    What the drafts that were left out call is not accepted.
    """
    for table in imported["tables"]:
        said = add_table(table, folder)
        imported["notes"].append({"definition": "", "path": "", "text": said, "line": 0})
    if server is not None:
        accept_tools(server, folder, left_out)
    accept_operations(imported["published"], folder, left_out)


def _read(
    kind: str, source: str, folder: Path | None, of_service: tuple[str, list[str]], model: str
) -> dict[str, Any]:
    from toolmd._import import KINDS, read_source

    read = _nothing()
    if kind == "openapi":
        imported, read["tables"], read["published"] = read_document(source, folder, *of_service)
        _add(read, imported)
        return read
    if kind in KINDS and model:
        stop(ExitCode.USAGE, f"{kind} is read exactly and needs no model", "leave out --model")
    if kind in KINDS:
        for name, text in texts_of(kind, source):
            imported = read_source(kind, text, name)
            new = _add(read, imported)
            if kind == "agentskills" and new:
                _add_folder(read, name, imported.drafts[0].name)
            if kind == "python":
                from toolmd._import.python import folder_of

                read["folder"] = folder_of(text)
        return read
    made = read_by_plugin(kind, source, folder, model)
    if isinstance(made, Imported):
        _add(read, made)
    else:
        read["files"] = made
    return {**read, "files": checked_names(read["files"])}


def _nothing() -> dict[str, Any]:
    return {"files": {}, "executable": set(), "notes": [], "refused": [], "folder": None,
            "tables": [], "published": {}}  # fmt: skip


def _add_folder(read: dict[str, Any], source: str, name: str) -> None:
    """Add the files of a skill's folder, which are copied next to its definition."""
    from toolmd._cli.authoring.skill_files import copied_files

    files, executable, left_out = copied_files(source, name.replace("_", "-"))
    read["files"] |= files
    read["executable"] |= executable
    read["notes"] += [Note(name, "", text)._asdict() for text in left_out]


def _add(read: dict[str, Any], imported: Imported) -> bool:
    """Add the drafts of one document; of two with the same name, keep the first.

    Returns:
        Whether a draft was added.
    """
    before = len(read["files"])
    for draft in imported.drafts:
        file = f"{draft.name.replace('_', '-')}.{draft.kind}.md"
        if file in read["files"]:
            said = f"a second {draft.kind} of this name; the first one was imported"
            read["refused"].append({"definition": draft.name, "text": said, "line": 0})
        read["files"].setdefault(file, draft.text)
    read["notes"] += [note._asdict() for note in imported.notes]
    read["refused"] += [note._asdict() for note in imported.refused]
    return len(read["files"]) > before


def _target(file: str, folder: Path | None, out_dir: Path | None) -> Path:
    if out_dir is not None:
        return out_dir / file
    skill = file.endswith(".skill.md") or "/" in file
    if folder is None and find_project(Path.cwd().resolve()) is None:
        return Path((DEFAULT_SKILLS if skill else DEFAULT_TOOLS)[0]) / file
    settings = load_settings(folder)
    folders = settings.skills if skill else settings.tools
    if not folders:
        kind = "skills" if skill else "tools"
        stop(ExitCode.USAGE, f"the project has no folder of {kind}", "name one with --out")
    return settings.root / folders[0] / file


def _made_known(written: Path, imported: dict[str, Any]) -> dict[Path, str]:
    """Return the settings that name a folder of drafts, or note what to add to those there."""
    root = find_project(written)
    settings = load_settings(root or Path.cwd())
    if any(written.is_relative_to((settings.root / one).resolve()) for one in settings.tools):
        return {}
    if root is None:
        return {written / "toolmd.toml": 'tools = ["."]\n'}
    place = written.relative_to(root).as_posix()
    said = f"add {place!r} to `tools` in the settings of the project, which has no tools there"
    imported["notes"].append({"definition": "", "path": "", "text": said, "line": 0})
    return {}


def _write(files: dict[Path, str | bytes], executable: set[Path], *, force: bool) -> None:
    from toolmd._cli.files import write_all

    files = {path: text for path, text in files.items() if not is_there(path, text)}
    try:
        write_all(files, force=force, executable=executable)
    except FileExistsError as error:
        what = f"{error.filename2 or error.filename}: exists already; nothing was written"
        stop(ExitCode.USAGE, what, HELP)
