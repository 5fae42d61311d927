"""`import`: write drafts of definitions from other formats."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from toolmd._cli.files import STDIN, path_here, write_files
from toolmd._cli.frame import Answer, ExitCode, stop
from toolmd._cli.screen import Paint, paint, plural, printable, read_stdin
from toolmd._cli.upstream import (
    WANTED,
    Import,
    accept_written,
    add_table,
    read_document,
    read_live_server,
    texts_of,
)
from toolmd._types.diagnostic import SUFFIXES
from toolmd._types.imported import RESTRICTED, Imported, Note
from toolmd._types.settings import DEFAULT_SKILLS, DEFAULT_TOOLS
from toolmd.config import find_project, load_settings

_HELP = "--force overwrites it; --out DIR writes to another folder"
_NAMED = 3
"""The most places that a line names, and the most texts of a kind on lines of their own."""
_SCREEN, _WIDTH = 14, 160
"""The most lines of notes, and the most characters of a note."""
_TIMES = "\N{MULTIPLICATION SIGN}"
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
    json: bool,
    project: Path | None,
) -> Answer:
    """Write canonical drafts from the definitions of other programs.

    Each guess is reported on stderr: review the drafts before they run. Parts that can't be
    read are reported, never invented. Definitions whose file exists are left out. With
    `--live NAME -- COMMAND`, the drafts call an MCP server, behind the checks of Toolmd. Exit
    codes: 1 something could not be imported, 5 no MCP server answers. `text` drafts from prose with
    the model that --model names, and needs the extra `chat`. A live MCP server needs the extra
    `mcp`: pip install 'toolmd[mcp]'.
    """
    sources = source or []
    if (live or url) and (kind != "mcp" or not live):
        stop(ExitCode.USAGE, "--live and --url belong to mcp", "toolmd import mcp --live NAME")
    if not live and len(sources) != 1:
        what = f"SOURCE is needed once, not {len(sources)} times"
        stop(ExitCode.USAGE, what, "quote a command of several words")
    if (kind == "text") != bool(model):
        if model:
            stop(ExitCode.USAGE, f"{kind} is read without a model", "leave out --model")
        stop(ExitCode.USAGE, "a model reads the text", "name it: --model NAME")
    if live:
        found = read_live_server(live, url, sources, project, force=force)
    elif kind == "openapi":
        found = read_document(sources[0], project, service, only or [])
    else:
        found = _read(kind, sources[0], project, model)
    out_dir = out_dir or _folder_of_drafts(found, project)
    places = {name: _place(name, project, out_dir) for name in found.files}
    if not force:
        _leave_out(found, places)
    files = {places[name]: content for name, content in found.files.items()}
    if found.folder is not None and out_dir is not None and files:
        files |= _settings_of(out_dir.resolve(), found)
    try:
        wanted = {path: text for path, text in files.items() if not _is_there(path, text)}
        executable = {places[name] for name in found.executable if name in found.files}
        write_files(wanted, force=force, executable=executable)
    except FileExistsError as error:
        what = f"{error.filename2 or error.filename}: exists already; nothing was written"
        stop(ExitCode.USAGE, what, _HELP)
    found.notes += [Note("", "", add_table(table, project)) for table in found.tables]
    accept_written(found, project)
    code = ExitCode.FINDINGS if found.refused or not (files or live) else ExitCode.DONE
    return _answer(found, [path_here(path) for path in files], code, json=json)


def _read(kind: str, source: str, folder: Path | None, model: str) -> Import:
    from toolmd._import import KINDS, draft, read_source

    found = Import()
    if kind == "text":
        from toolmd._chat.endpoint import ask_of
        from toolmd._workspace.plugins import settings_here

        ask = ask_of(model, settings_here(folder))
        ((_, text),) = texts_of("text", source, [])
        found.add(draft(text, ask))
        return found
    if kind not in KINDS:
        _read_by_plugin(found, kind, source, folder)
        return found
    for name, text in texts_of(kind, source, found.refused):
        imported = read_source(kind, text, name)
        if found.add(imported, name) and kind == "agentskills":
            found.add_folder(name, imported.drafts[0].name)
        if kind == "python":
            from toolmd._import.python import folder_of

            found.folder = folder_of(text)
    return found


def _read_by_plugin(found: Import, kind: str, source: str, folder: Path | None) -> None:
    """Import with the plugin of this kind; standard input is passed on as a file."""
    from toolmd._workspace.plugins import import_by_plugin

    with TemporaryDirectory() as place:
        if source == STDIN:
            file = Path(place, "stdin")
            file.write_bytes(read_stdin(WANTED))
            source = str(file)
        given = import_by_plugin(folder, kind, source)
    if isinstance(given, Imported):
        found.add(given)
    else:
        found.files |= given
    for name in found.files:
        if Path(name).name != name or not name.endswith(tuple(SUFFIXES)):
            stop(
                ExitCode.FINDINGS,
                f"the plugin returned the file name {name!r}",
                "it must return NAME.tool.md or NAME.skill.md",
            )


def _place(file: str, folder: Path | None, out_dir: Path | None) -> Path:
    if out_dir is not None:
        return out_dir / file
    is_skill = file.endswith(".skill.md") or "/" in file
    if folder is None and find_project(Path.cwd().resolve()) is None:
        return Path((DEFAULT_SKILLS if is_skill else DEFAULT_TOOLS)[0]) / file
    settings = load_settings(folder)
    folders = settings.skills if is_skill else settings.tools
    if not folders:
        kind = "skills" if is_skill else "tools"
        stop(ExitCode.USAGE, f"the project has no folder of {kind}", "name one with --out")
    return settings.root / folders[0] / file


def _folder_of_drafts(found: Import, project: Path | None) -> Path | None:
    """Return the folder of the module that was read, or the project's where that does not read it.

    A project's tools find a module beside them, or an installed one.
    """
    if (module := found.folder) is None:
        return None
    root = project or find_project(Path.cwd().resolve()) or find_project(module)
    if root is None or _reads(root, module):
        return module
    folder = _place("x.tool.md", root, None).parent
    place = path_here(folder)
    note = f"Implemented By finds the module in {place}, or installed: move or install it"
    found.notes.append(Note("", "", note))
    return folder


def _reads(root: Path, folder: Path) -> bool:
    settings = load_settings(root)
    return any(folder.is_relative_to((settings.root / one).resolve()) for one in settings.tools)


def _settings_of(written: Path, found: Import) -> dict[Path, str | bytes]:
    """Return the settings that name a folder of drafts, or note what to add to those there."""
    root = find_project(written)
    if _reads(root or Path.cwd(), written):
        return {}
    if root is None:
        return {written / "toolmd.toml": 'tools = ["."]\n'}
    place = written.relative_to(root).as_posix()
    said = f"add {place!r} to `tools` in the settings of the project, which has no tools there"
    found.notes.append(Note("", "", said))
    return {}


def _leave_out(found: Import, places: dict[str, Path]) -> None:
    """Remove the definitions of which a file exists, with the folders of skills and their notes."""
    taken: dict[str, Path] = {}
    for name, content in found.files.items():
        if places[name].exists() and not _is_there(places[name], content):
            taken.setdefault(_definition(name), places[name])
    found.files = {name: one for name, one in found.files.items() if _definition(name) not in taken}
    found.notes = [note for note in found.notes if note.definition not in taken]
    found.refused += [Note(name, "", f"{path_here(path)} exists already; {_HELP}")
                      for name, path in taken.items()]  # fmt: skip


def _is_there(path: Path, content: str | bytes) -> bool:
    """Return whether a copied file has its content already, as where a skill stays in its place."""
    return isinstance(content, bytes) and path.is_file() and path.read_bytes() == content


def _definition(name: str) -> str:
    """Return the name of the definition that a file or the files of its folder belong to."""
    return name.partition("/")[0].partition(".")[0].replace("-", "_")


def _answer(found: Import, paths: list[str], code: ExitCode, *, json: bool) -> Answer:
    """Show what was written, each note once, and what to do next."""
    value = {
        "written": paths,
        "notes": [note._asdict() for note in found.notes],
        "refused": [note._asdict() for note in found.refused],
    }
    headings: tuple[tuple[str, Paint, list[Note]], ...] = (
        ("note", "cyan", found.notes), ("not imported", "red", found.refused),
    )  # fmt: skip
    notes = [f"{paint(heading, how, sys.stderr)}: {printable(text)}"
             for heading, how, each in headings for text in merge(each)]  # fmt: skip
    texts = [text for text in found.files.values() if isinstance(text, str)]
    undecided = {sentence for text in texts for sentence in RESTRICTED.findall(text)}
    if not paths:
        notes.append("Nothing was imported." if found.refused else
                     "There is nothing new to import.")  # fmt: skip
    elif not json and undecided:
        left = plural(len(undecided), "restriction")
        notes.append(f"Next: decide about {left}: write a field instead of its line, or delete the "
                     "line; then run toolmd check")  # fmt: skip
    elif not json:
        notes.append("Next: review the drafts, then run toolmd check")
    written = [f"{paint('made', 'green')} {path}" for path in _fold_folders(paths)]
    return Answer(value, "\n".join(written) or None, (), code, notes)


def _fold_folders(paths: list[str]) -> Iterator[str]:
    """Yield the definitions, and after each one the number of files in its folder."""
    for path in paths:
        if not path.endswith(tuple(SUFFIXES)):
            continue
        yield path
        folder = path.removesuffix(".skill.md") + "/"
        if inside := sum(one.startswith(folder) for one in paths):
            yield f"{folder} ({plural(inside, 'file')})"
    yield from (path for path in paths if path.endswith(".toml"))


def merge(notes: Iterable[Note], most: int = _SCREEN) -> Iterator[str]:
    """Yield at most so many lines: what somebody must decide first, and each kind of note once.

    A kind has the number of its notes, the first text and the first places; --json has all.
    """
    kinds: dict[str, list[Note]] = defaultdict(list)
    for note in notes:
        kinds[_kind(note.text)].append(note)
    groups: dict[str, list[Note]] = defaultdict(list)
    for kind, same in kinds.items():
        is_many = len({note.text for note in same}) > _NAMED
        for note in same:
            groups[kind if is_many else f"{note.text} {note.line}"].append(note)
    lines = []
    for same in sorted(groups.values(), key=lambda same: "`check` fails" not in same[0].text):
        about = [".".join(filter(None, (note.definition, note.path))) for note in same]
        about = [*dict.fromkeys(filter(None, about))]
        first = same[0]
        if len(first.text) > _WIDTH:
            first = first._replace(text=f"{first.text[:_WIDTH]}…")
        line = str(first)
        if len(same) > 1:
            more = f" and {len(about) - _NAMED} more" if len(about) > _NAMED else ""
            where = f" ({', '.join(about[:_NAMED])}{more})" if about else ""
            others = "; --json has each" if len({note.text for note in same}) > 1 else ""
            line = f"{len(same)} {_TIMES} {first.text}{where}{others}"
        lines.append(line)
    yield from lines if len(lines) <= most else lines[: most - 1]
    if len(lines) > most:
        yield f"and {len(lines) - most + 1} more: --json has all"


def _kind(text: str) -> str:
    """Return the part of a note that many notes share: `` `url` is not kept``."""
    head, middle, _ = text.partition(" is not kept: ")
    return head + middle if middle else re.sub("'[^']*'|\"[^\"]*\"", "", text)
