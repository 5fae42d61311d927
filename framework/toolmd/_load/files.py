"""Read the files of folders of definitions, each changed file once."""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity, Span

MAX_DEFINITION = 64 * 1024
"""In bytes."""
MAX_PYTHON = 1024 * 1024
MAX_DEPTH = 16
"""Of folders below the folder of definitions."""
MAX_LINKS = 40
"""On one path; more are a circle, as for the system."""
SKIPPED = frozenset({"__pycache__", "node_modules"})
INSTALLED = frozenset({"site-packages", "dist-packages"})
"""The folders of installed packages, which nobody edits."""

DefinitionKind = Literal["tool", "skill"]
SUFFIXES: dict[str, DefinitionKind] = {".tool.md": "tool", ".skill.md": "skill"}


class File(NamedTuple):
    """A file's bytes, read once."""

    path: str
    """As people see it: relative to the project, with slashes."""
    location: str
    """Where it lies on disk, absolute."""
    parts: tuple[str, ...]
    """The folders below the folder of definitions, and the name."""
    data: bytes


Stamp = tuple[int, int, int, int, int]
"""Of a file: it changes with the file's content."""


@dataclass(slots=True, eq=False, repr=False)
class Folder:
    """The files of one folder of definitions."""

    root: Path
    shown: str
    definitions: list[tuple[DefinitionKind, File]] = field(default_factory=list)
    modules: list[File] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    links: list[Path] = field(default_factory=list)
    """The files that are symbolic links: what they lead to may change."""
    stamps: dict[str, tuple[Stamp, File]] = field(default_factory=dict)
    """What was read of each place, where a later change shows in its stamp."""


def python_below(place: str) -> Iterator[str]:
    """Yield the Python of a folder, or a file itself; environments and installed packages not."""
    # A project may hold thousands of files, so they are texts in place of paths.
    if place.endswith(".py"):
        yield place
    for at, folders, names in os.walk(place):
        folders[:] = [
            one
            for one in folders
            if one[0] != "."
            and one not in (SKIPPED | INSTALLED)
            and not os.path.exists(os.path.join(at, one, "pyvenv.cfg"))  # noqa: PTH110, PTH118
        ]
        yield from (os.path.join(at, name) for name in names if name.endswith(".py"))  # noqa: PTH118


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


def path_in_project(path: Path, project: Path) -> str:
    """Return a path as people see it: relative to the project where it lies within."""
    inside = path.is_relative_to(project)
    return (path.relative_to(project) if inside else path).as_posix()


def whole_file(
    path: str, code: Code, message: str, help_: str = "", severity: Severity = Severity.ERROR
) -> Diagnostic:
    """Make a diagnostic about a file as a whole."""
    return Diagnostic(Span(path, 1, 1, 1, 1), code, severity, message, help_)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return what changes with a file's content."""
    return (
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_mode,
    )


def read_file(folder: Folder, location: str, shown: str) -> tuple[bytes, os.stat_result] | None:
    """Return a file's bytes, and its state before they were read; None with a diagnostic."""
    limit = MAX_PYTHON if shown.endswith(".py") else MAX_DEFINITION
    try:
        # A pipe that took the file's place since it was listed must not block.
        descriptor = os.open(location, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(descriptor)
            # A byte more than the file has shows that it ends there, without a second read.
            data = os.read(descriptor, min(status.st_size, limit) + 1)
            # Signals and odd file systems give another number of bytes.
            while len(data) != status.st_size and len(data) <= limit:
                if not (more := os.read(descriptor, MAX_DEFINITION)):
                    break
                data += more
        finally:
            os.close(descriptor)
    except OSError as error:
        folder.diagnostics.append(unreadable(shown, "file", error))
        return None
    if len(data) > limit:
        folder.diagnostics.append(_too_large(folder.root, Path(location), shown, limit))
        return None
    return data, status


def unreadable(shown: str, what: str, error: OSError) -> Diagnostic:
    """Report a file or a folder that can't be read."""
    message = f"the {what} can't be read: {error.strerror}"
    help_ = "let the user who runs Toolmd read it, or move it elsewhere"
    return whole_file(shown, Code.UNREADABLE_FILE, message, help_)


def _too_large(root: Path, location: Path, shown: str, limit: int) -> Diagnostic:
    message = f"the file has {location.stat().st_size:,} bytes; at most {limit:,} are read"
    if location.suffix == ".py" and _is_of_a_skill(root, location):
        help_ = "split it if the project's own Python imports it"
        return whole_file(shown, Code.FILE_TOO_LARGE, message, help_, Severity.HINT)
    return whole_file(shown, Code.FILE_TOO_LARGE, message, "split it, or move its prose elsewhere")


def _is_of_a_skill(root: Path, file: Path) -> bool:
    """Return whether a file is in a skill's own folder, whose scripts Toolmd does not run."""
    folders = (one for one in file.parents if one.is_relative_to(root) and one != root)
    return any(folder.with_name(f"{folder.name}.skill.md").is_file() for folder in folders)


SETTLED_NS = 2_000_000_000
"""How long ago a file must have changed, so that its next change has another time."""
_NEAR_SUFFIXES = (
    *(f".{kind}{end}" for kind in ("tool", "skill") for end in (".markdown", ".mdx", ".txt")),
    ".tools.md",
    ".skills.md",
)


class Walker:
    """Reads folders of definitions; what has not changed is taken from `before`."""

    def __init__(self, before: Iterable[Folder] = (), settled_ns: int = SETTLED_NS) -> None:
        """Keep what was read before.

        Args:
            before: The folders as they were read.
            settled_ns: How long ago a file must have changed to be known by its stamp.
        """
        self._before = {folder.root: folder for folder in before}
        self._settled_ns = settled_ns

    def read(self, root: Path, project: Path, named: Path | None = None) -> Folder:
        """Read the definitions and the Python below `root`, in the order of their paths.

        Hidden folders and files are left out. Links are followed to files within `root` only. What
        can't be read is a diagnostic, and the rest is read. `named` is what people call the
        folder, where a link leads to it: it stays when the link leads elsewhere.
        """
        folder = Folder(root, path_in_project(named or root, project))
        before, settled = self._before.get(root), time.time_ns() - self._settled_ns
        if before is None or before.shown != folder.shown:
            before = Folder(root, folder.shown)
        _Walk(folder, before, settled).visit(str(root), ())
        return folder


def read_one(path: Path, project: Path) -> Folder:
    """Read a single definition, without its neighbours."""
    folder = Folder(path.parent, path_in_project(path.parent, project))
    shown = path_in_project(path, project)
    if (read := read_file(folder, str(path), shown)) is not None:
        for suffix, kind in SUFFIXES.items():
            if path.name.endswith(suffix):
                folder.definitions.append((kind, File(shown, str(path), (path.name,), read[0])))
    return folder


class _Walk:
    """Reads one folder and all folders in it; what did not change is taken from before."""

    def __init__(self, folder: Folder, before: Folder, settled: int) -> None:
        self._folder = folder
        self._before = before
        self._below = "" if folder.shown == "." else f"{folder.shown}/"
        self._real = os.path.realpath(folder.root)
        self._settled = settled

    def visit(self, place: str, parts: tuple[str, ...]) -> None:
        """Read a folder, `parts` below the root."""
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            shown = f"{self._below}{'/'.join(parts)}" or "."
            self._folder.diagnostics.append(unreadable(shown, "folder", error))
            return
        for entry in entries:
            name = entry.name
            if name[0] == "." or name in SKIPPED:
                continue
            last = self._before.stamps.get(entry.path)
            with contextlib.suppress(OSError):  # Gone since it was listed: reading it reports that.
                if last and not entry.is_symlink() and last[0] == stamp_of(entry.stat()):
                    self._folder.stamps[entry.path] = last
                    self._add(last[1])
                    continue
            if name.endswith((*SUFFIXES, ".py")) or not entry.is_dir(follow_symlinks=False):
                self._take(entry, (*parts, name), last and last[1])
            elif len(parts) < MAX_DEPTH:
                self.visit(entry.path, (*parts, name))

    def _take(self, entry: os.DirEntry[str], parts: tuple[str, ...], last: File | None) -> None:
        """Read a file, unless it is no definition, no Python or can't be read."""
        folder, name, place = self._folder, entry.name, entry.path
        shown = _printable(f"{self._below}{'/'.join(parts)}")
        if not name.endswith((*SUFFIXES, ".py")):
            _notice(folder, entry, shown, self._real)
        elif _readable(folder, entry, shown, self._real) and (
            read := read_file(folder, place, shown)
        ):
            data, status = read
            file = File(shown, place, parts, data)
            file = last if last is not None and last == file else file
            if max(status.st_mtime_ns, status.st_ctime_ns) < self._settled:
                folder.stamps[place] = stamp_of(status), file
            self._add(file)

    def _add(self, file: File) -> None:
        path = file.path
        if path.endswith(".py"):
            self._folder.modules.append(file)
        else:
            kind: DefinitionKind = "tool" if path.endswith(".tool.md") else "skill"
            self._folder.definitions.append((kind, file))


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
                Severity.WARNING,
            )
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
    # A name that is not UTF-8 comes with unpaired surrogates, which nothing can print.
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
