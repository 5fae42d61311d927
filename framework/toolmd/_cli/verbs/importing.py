"""`import`: write drafts of definitions from other formats."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from toolmd._cli.files import STDIN, shown
from toolmd._cli.frame import ExitCode, JsonOption, ProjectOption, stop
from toolmd._cli.screen import busy, err, out, out_json, paint, printable, read_stdin
from toolmd._cli.upstream import (
    WANTED,
    Live,
    accept_operations,
    accept_tools,
    add_table,
    read_document,
    read_live_server,
    texts_of,
)
from toolmd._types.imported import RESTRICTED, Draft, Imported, Note
from toolmd._types.settings import DEFAULT_SKILLS, DEFAULT_TOOLS
from toolmd._types.source import SUFFIXES
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
        help="Send the document, and nothing else, to this model, which drafts its tools (text)."
        " Address and key: as for toolmd chat",
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
    codes: 1 something could not be imported, 5 no MCP server answers. `text` drafts from prose with
    the model that --model names, and needs the extra `chat`. A live MCP server needs the extra
    `mcp`: pip install 'toolmd[mcp]'.
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
    if (kind == "text") != bool(model):
        if model:
            stop(ExitCode.USAGE, f"{kind} is read without a model", "leave out --model")
        stop(ExitCode.USAGE, "a model reads the text", "name it: --model NAME")
    if kind == "text":
        _add(read, _drafted(source, folder, model))
        return read
    if kind == "openapi":
        imported, read["tables"], read["published"] = read_document(source, folder, *of_service)
        _add(read, imported)
        return read
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
    made = read_by_plugin(kind, source, folder)
    if isinstance(made, Imported):
        _add(read, made)
    else:
        read["files"] = made
    return {**read, "files": checked_names(read["files"])}


def _drafted(source: str, folder: Path | None, model: str) -> Imported:
    """Draft the tools of a text with a model, as `toolmd chat` reaches it."""
    from toolmd._chat.one_answer import ask_of
    from toolmd._import import draft
    from toolmd._workspace.plugins import settings_here

    ask = ask_of(model, settings_here(folder))
    ((_, text),) = texts_of("text", source)
    return draft(text, ask)


def _nothing() -> dict[str, Any]:
    return {"files": {}, "executable": set(), "notes": [], "refused": [], "folder": None,
            "tables": [], "published": {}}  # fmt: skip


def _add_folder(read: dict[str, Any], source: str, name: str) -> None:
    """Add the files of a skill's folder, which are copied next to its definition."""
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


HELP = "--force overwrites it; --out DIR writes to another folder"


def leave_out(imported: dict[str, Any], target: Callable[[str], Path]) -> list[Draft]:
    """Remove the definitions of which a file exists, with the folders of skills and their notes.

    Args:
        imported: The drafts as `files`, by name, the `notes` and the `refused` items; all are
            changed.
        target: Returns the path of a file.

    Returns:
        The drafts of the definitions that were removed.
    """
    taken: dict[str, Path] = {}
    for name, content in imported["files"].items():
        path = target(name)
        if path.exists() and not is_there(path, content):
            taken.setdefault(_definition(name), path)
    names = {stem.partition(".")[0].replace("-", "_") for stem in taken}
    drafts = [
        Draft("tool", "", content)
        for name, content in imported["files"].items()
        if _definition(name) in taken and isinstance(content, str)
    ]
    imported["files"] = {
        name: content
        for name, content in imported["files"].items()
        if _definition(name) not in taken
    }
    imported["notes"] = [note for note in imported["notes"] if note["definition"] not in names]
    imported["refused"] += [
        {
            "definition": stem.partition(".")[0].replace("-", "_"),
            "text": f"{shown(path)} exists already; {HELP}",
            "line": 0,
        }
        for stem, path in taken.items()
    ]
    return drafts


def is_there(path: Path, content: str | bytes) -> bool:
    """Return whether a copied file has its content already, as where a skill stays in its place."""
    return isinstance(content, bytes) and path.is_file() and path.read_bytes() == content


def _definition(name: str) -> str:
    """Return the same word for a skill's definition and the files of its folder."""
    return name.partition("/")[0].removesuffix(".skill.md")


def read_by_plugin(kind: str, source: str, folder: Path | None) -> Imported | Mapping[str, str]:
    """Import with the plugin of this kind; standard input is passed on as a file."""
    from toolmd._workspace.plugins import import_by_plugin

    if source != STDIN:
        return import_by_plugin(folder, kind, source)
    with TemporaryDirectory() as place:
        file = Path(place, "stdin")
        file.write_bytes(read_stdin(WANTED))
        return import_by_plugin(folder, kind, str(file))


def checked_names(files: Mapping[str, str]) -> dict[str, str]:
    """Check that a plugin's file names are those of definitions: no folder, the right suffix."""
    for name in files:
        if Path(name).name != name or not name.endswith(tuple(SUFFIXES)):
            stop(
                ExitCode.FINDINGS,
                f"the plugin returned the file name {name!r}",
                "it must return NAME.tool.md, NAME.skill.md or NAME.prompt.md",
            )
    return dict(files)


def copied_files(source: str, stem: str) -> tuple[dict[str, bytes], set[str], tuple[str, ...]]:
    """Read the folder of a SKILL.md, to be copied next to its definition.

    Args:
        source: The path of the SKILL.md; for another source there are no files.
        stem: The name of the definition's file, without its suffix.

    Returns:
        The content of each file by its path, the paths of the executable ones, and a sentence for
        each file that is left out.
    """
    from toolmd._workspace.skill_folders import SKILL_FILE, read_folder

    file = Path(source)
    if file.name != SKILL_FILE or not file.is_file():
        return {}, set(), ()
    found = read_folder(file.parent)
    files = {f"{stem}/{path}": place for path, place in found.files.items()}
    executable = {path for path, place in files.items() if place.stat().st_mode & 0o100}
    return {path: place.read_bytes() for path, place in files.items()}, executable, found.left_out


_NAMED = 5
"""The most names before one note."""


def tell_imported(imported: dict[str, Any], paths: list[str], *, json: bool) -> None:
    """Print what was written, each note once, and what to do next.

    Args:
        imported: The drafts as `files`, by name, the `notes` and the `refused` items.
        paths: The files that were written.
        json: Whether stdout gets JSON; stderr has the notes in any case.
    """
    if json:
        out_json({"written": paths, "notes": imported["notes"], "refused": imported["refused"]})
    else:
        for path in _folded(paths):
            out(f"{paint('made', 'green', sys.stdout)} {path}")
    for heading, how, told in (("note", "cyan", "notes"), ("not imported", "red", "refused")):
        for text in _once(imported[told]):
            err(f"{paint(heading, how, sys.stderr)}: {printable(text)}")  # type: ignore[arg-type]
    if not paths:
        err("Nothing was imported." if imported["refused"] else "There is nothing new to import.")
    elif not json and (left := _undecided(imported["files"])):
        err(f"Next: decide about {left} {'restriction' if left == 1 else 'restrictions'}: write a "
            "field instead of its line, or delete the line; then run toolmd check")  # fmt: skip
    elif not json:
        err("Next: review the drafts, then run toolmd check")


def _folded(paths: list[str]) -> Iterator[str]:
    """Yield the definitions, and after each one the number of files in its folder."""
    for path in paths:
        if not path.endswith(tuple(SUFFIXES)):
            continue
        yield path
        folder = path.removesuffix(".skill.md") + "/"
        if inside := sum(one.startswith(folder) for one in paths):
            yield f"{folder} ({inside} {'file' if inside == 1 else 'files'})"
    yield from (path for path in paths if path.endswith(".toml"))


def _once(notes: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each note once, with its places; of many values of one key, only the first."""
    places: dict[tuple[str, int], list[str]] = {}
    forms: dict[str, set[str]] = {}
    for note in notes:
        found = (part for part in (note["definition"], note.get("path", "")) if part)
        places.setdefault((note["text"], note["line"]), []).append(".".join(found))
        if not note["line"]:
            forms.setdefault(_kind(note["text"]), set()).add(note["text"])
    shown: dict[tuple[str, int], tuple[str, list[str]]] = {}
    for (text, line), about in places.items():
        # A note on a line of the source is about one place.
        many = not line and len(forms[_kind(text)]) > _NAMED
        shown.setdefault((_kind(text) if many else text, line), (text, []))[1].extend(about)
    for (kind, line), (text, about) in shown.items():
        more = f" and {len(about) - _NAMED} more" if len(about) > _NAMED else ""
        end = "" if kind == text else f" (--json has the other {len(forms[kind]) - 1})"
        yield str(Note(", ".join(about[:_NAMED]) + more, "", text + end, line))


def _kind(text: str) -> str:
    """Return the part of a note that many notes share: `` `url` is not kept``."""
    head, middle, _ = text.partition(" is not kept: ")
    return head + middle if middle else text


def _undecided(files: dict[str, Any]) -> int:
    """Return the number of different sentences about which somebody must decide."""
    texts = (text for text in files.values() if isinstance(text, str))
    return len({sentence for text in texts for sentence in RESTRICTED.findall(text)})
