"""Find the definitions, the prompts and the Python of a folder, and read each file once."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.source import Span

MAX_DEFINITION = 64 * 1024
"""In bytes."""
MAX_PYTHON = 1024 * 1024
MAX_DEPTH = 16
"""Of folders below the folder of definitions."""
MAX_LINKS = 40
"""On one path; more are a circle, as for the system."""
SKIPPED = frozenset({"__pycache__", "node_modules"})

DefinitionKind = Literal["tool", "skill"]
SUFFIXES: dict[str, DefinitionKind] = {".tool.md": "tool", ".skill.md": "skill"}
PROMPT_SUFFIX = ".prompt.md"
_NEAR_SUFFIXES = (
    *(f".{kind}{end}" for kind in ("tool", "skill") for end in (".markdown", ".mdx", ".txt")),
    ".tools.md",
    ".skills.md",
)


class File(NamedTuple):
    """A file's bytes, read once."""

    path: str
    """As people see it: relative to the project, with slashes."""
    location: str
    """Where it lies on disk, absolute."""
    parts: tuple[str, ...]
    """The folders below the folder of definitions, and the name."""
    data: bytes


@dataclass(slots=True, eq=False, repr=False)
class Folder:
    """The files of one folder of definitions."""

    root: Path
    shown: str
    definitions: list[tuple[DefinitionKind, File]] = field(default_factory=list)
    modules: list[File] = field(default_factory=list)
    prompts: list[File] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    """The files that are symbolic links: what they lead to may change."""


def links_along(path: Path) -> Iterator[Path]:
    """Yield each symbolic link on the way to the place where `path` really lies."""
    rest = [*reversed(path.parts[1:])]
    at, seen = Path(path.anchor), 0
    while rest and seen < MAX_LINKS:
        at = at.parent if (part := rest.pop()) == ".." else at / part
        if at.is_symlink():
            yield at
            seen += 1
            target = Path(os.readlink(at))  # noqa: PTH115 - the text, as it stands
            at = Path(target.anchor) if target.is_absolute() else at.parent
            rest += reversed(target.parts[1:] if target.is_absolute() else target.parts)


def shown_path(path: Path, project: Path) -> str:
    """Return a path as people see it: relative to the project where it lies within."""
    inside = path.is_relative_to(project)
    return (path.relative_to(project) if inside else path).as_posix()


def whole_file(path: str, code: Code, message: str, help_: str = "") -> Diagnostic:
    """Make an error about a file as a whole."""
    return Diagnostic(Span(path, 1, 1, 1, 1), code, Severity.ERROR, message, help_)


def walk(root: Path, project: Path, named: Path | None = None) -> Folder:
    """Read the definitions and the Python below `root`, in the order of their paths.

    Hidden folders and files are left out. Links are followed to files within `root` only. What
    can't be read is a diagnostic, and the rest is read. `named` is what people call the folder,
    where a link leads to it: it stays when the link leads elsewhere.
    """
    folder = Folder(root, shown_path(named or root, project))
    below = "" if folder.shown == "." else f"{folder.shown}/"
    real = os.path.realpath(root)
    for entry, parts in _entries(folder, str(root), (), below):
        _take(folder, entry, parts, _printable(f"{below}{'/'.join(parts)}"), real)
    return folder


def read_one(path: Path, project: Path) -> Folder:
    """Read a single definition, without its neighbours."""
    folder = Folder(path.parent, shown_path(path.parent, project))
    shown = shown_path(path, project)
    if (data := _read(folder, str(path), shown, MAX_DEFINITION)) is not None:
        for suffix, kind in SUFFIXES.items():
            if path.name.endswith(suffix):
                folder.definitions.append((kind, File(shown, str(path), (path.name,), data)))
    return folder


def _entries(
    folder: Folder, place: str, parts: tuple[str, ...], below: str
) -> Iterator[tuple[os.DirEntry[str], tuple[str, ...]]]:
    try:
        with os.scandir(place) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        shown = f"{below}{'/'.join(parts)}" or "."
        folder.diagnostics.append(_unreadable(shown, "folder", error))
        return
    for entry in entries:
        name = entry.name
        if name[0] == "." or name in SKIPPED:
            continue
        if entry.is_dir(follow_symlinks=False) and not name.endswith((*SUFFIXES, ".py")):
            if len(parts) < MAX_DEPTH:
                yield from _entries(folder, entry.path, (*parts, name), below)
        else:
            yield entry, (*parts, name)


def _take(
    folder: Folder, entry: os.DirEntry[str], parts: tuple[str, ...], shown: str, real: str
) -> None:
    name = entry.name
    if name.endswith(".py"):
        limit = MAX_PYTHON
    elif name.endswith(".md") and name.endswith((*SUFFIXES, PROMPT_SUFFIX)):
        limit = MAX_DEFINITION
    else:
        _notice(folder, entry, shown, real)
        return
    if not _readable(folder, entry, shown, real):
        return
    data = _read(folder, entry.path, shown, limit)
    if data is None:
        return
    file = File(shown, entry.path, parts, data)
    if limit == MAX_PYTHON:
        folder.modules.append(file)
    elif name.endswith(PROMPT_SUFFIX):
        folder.prompts.append(file)
    else:
        folder.definitions.append(("tool" if name.endswith(".tool.md") else "skill", file))


def _notice(folder: Folder, entry: os.DirEntry[str], shown: str, real: str) -> None:
    """Report a near miss: a file that is almost a definition, or a linked folder."""
    near = entry.name.lower()
    if near.endswith((*SUFFIXES, *_NEAR_SUFFIXES)) and _is_file(entry):
        folder.diagnostics.append(
            whole_file(
                shown,
                Code.IGNORED_FILE,
                f"{entry.name} is no definition by its name",
                "name it NAME.tool.md or NAME.skill.md",
            )._replace(severity=Severity.WARNING)
        )
    elif entry.is_symlink() and Path(entry.path).is_dir():
        inside = _within(os.path.realpath(entry.path), real)
        # What lies within is read at its own place, so a link to it adds nothing.
        if not inside:
            folder.diagnostics.append(_outside(shown, "folder")._replace(severity=Severity.WARNING))


def _readable(folder: Folder, entry: os.DirEntry[str], shown: str, real: str) -> bool:
    if entry.is_symlink():
        folder.links.append(Path(entry.path))
        target = os.path.realpath(entry.path)
        if not _within(target, real):
            folder.diagnostics.append(_outside(shown, "file"))
            return False
    plain = _is_file(entry) and (entry.name.isascii() or _printable(entry.name) == entry.name)
    if not plain:
        what = "a folder" if Path(entry.path).is_dir() else "no plain file with a name in UTF-8"
        folder.diagnostics.append(
            whole_file(shown, Code.UNREADABLE_FILE, f"this is {what}", "give it another name")
        )
    return plain


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False  # A link in a circle, or what vanished since it was listed.


def _printable(shown: str) -> str:
    # A name that is not UTF-8 comes with lone surrogates, which nothing can print.
    return shown if shown.isascii() else shown.encode(errors="replace").decode()


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _outside(shown: str, what: str) -> Diagnostic:
    return whole_file(
        shown,
        Code.OUTSIDE_ROOT,
        f"the link leads to a {what} outside the folder of definitions, and was not followed",
        f"put the {what} itself here, or add its folder to `tools` in the settings",
    )


def _read(folder: Folder, location: str, shown: str, limit: int) -> bytes | None:
    try:
        # A pipe that took the file's place since it was listed must not block.
        descriptor = os.open(location, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            # As much as a definition may have, for a larger buffer costs more than it holds.
            data = os.read(descriptor, MAX_DEFINITION + 1)
            # A short read is the end of the file, but for signals and odd file systems.
            while data and len(data) <= limit and (more := os.read(descriptor, MAX_DEFINITION)):
                data += more
        finally:
            os.close(descriptor)
    except OSError as error:
        folder.diagnostics.append(_unreadable(shown, "file", error))
        return None
    if len(data) > limit:
        folder.diagnostics.append(_too_large(location, shown, limit))
        return None
    return data


def _unreadable(shown: str, what: str, error: OSError) -> Diagnostic:
    message = f"the {what} can't be read: {error.strerror}"
    help_ = "let the user who runs Toolmd read it, or move it elsewhere"
    return whole_file(shown, Code.UNREADABLE_FILE, message, help_)


def _too_large(location: str, shown: str, limit: int) -> Diagnostic:
    size = Path(location).stat().st_size
    message = f"the file has {size:,} bytes; at most {limit:,} are read"
    return whole_file(shown, Code.FILE_TOO_LARGE, message, "split it, or move its prose elsewhere")
