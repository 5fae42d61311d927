"""Read the bytes of single files."""

import os
from pathlib import Path

from toolmd._load.source.files import (
    MAX_DEFINITION,
    MAX_PYTHON,
    Folder,
    Stamp,
    whole_file,
)
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity


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
