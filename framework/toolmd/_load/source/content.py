"""Read the bytes of single files: of all files for the first time, then of those that changed."""

import os
import stat
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolmd._load.source.files import (
    MAX_DEFINITION,
    MAX_PYTHON,
    File,
    Folder,
    Stamp,
    whole_file,
)
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity


def read_again(before: Folder, places: Collection[str], settled: int) -> Folder | None:
    """Return a folder in which only the bytes of these files may have changed.

    None where more may be different: a file is new or gone, or a link leads to one. `settled` is
    the time since which a changed file is not known by its stamp.
    """
    if before.links:
        return None
    folder = replace(before, definitions=[*before.definitions], modules=[*before.modules],
                     prompts=[*before.prompts], diagnostics=[*before.diagnostics],
                     stamps=dict(before.stamps))  # fmt: skip
    left = set(places)
    lists: tuple[list[Any], ...] = (folder.definitions, folder.modules, folder.prompts)
    for files in lists if left else ():
        for index, one in enumerate(files):
            file: File = one if isinstance(one, File) else one[1]
            if file.location in left:
                if (again := _again(folder, file, settled)) is None:
                    return None
                if again is not file:
                    files[index] = again if one is file else (one[0], again)
                left.discard(file.location)
    return None if left else folder


def _again(folder: Folder, file: File, settled: int) -> File | None:
    """Read one file again; None where it is not a plain file any more."""
    try:
        plain = stat.S_ISREG(os.lstat(file.location).st_mode)
    except OSError:
        return None
    read = read_file(folder, file.location, file.path) if plain else None
    if read is None:
        return None
    again = file if read[0] == file.data else file._replace(data=read[0])
    folder.stamps.pop(file.location, None)
    if max(read[1].st_mtime_ns, read[1].st_ctime_ns) < settled:
        folder.stamps[file.location] = stamp_of(read[1]), again
    return again


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
            # As much as a definition may have, for a larger buffer costs more than it holds.
            data = os.read(descriptor, MAX_DEFINITION + 1)
            # A short read is the end of the file, but for signals and odd file systems.
            while data and len(data) <= limit and (more := os.read(descriptor, MAX_DEFINITION)):
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
