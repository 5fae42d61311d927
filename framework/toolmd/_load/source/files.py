"""Describe the files of a folder of definitions: what is read, under which names and limits."""

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


class File(NamedTuple):
    """A file's bytes, read once."""

    path: str
    """As people see it: relative to the project, with slashes."""
    location: str
    """Where it lies on disk, absolute."""
    parts: tuple[str, ...]
    """The folders below the folder of definitions, and the name."""
    data: bytes


class Listing(NamedTuple):
    """The content of one folder of plain files, as it was listed."""

    names: list[str]
    """All names in it, sorted."""
    items: list[tuple[str, tuple[str, ...], str]]
    """Each file that is read, and each folder: its place, parts, and shown path (of a file)."""


Stamp = tuple[int, int, int, int, int]
"""Of a file: it changes with the file's content."""


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
    stamps: dict[str, tuple[Stamp, File]] = field(default_factory=dict)
    """What was read of each place, where a later change shows in its stamp."""
    listings: dict[str, Listing] = field(default_factory=dict)


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


def whole_file(
    path: str, code: Code, message: str, help_: str = "", severity: Severity = Severity.ERROR
) -> Diagnostic:
    """Make a diagnostic about a file as a whole."""
    return Diagnostic(Span(path, 1, 1, 1, 1), code, severity, message, help_)
