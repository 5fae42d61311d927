"""Find the definitions that paths on the command line name."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from toolmd._types.source import SUFFIXES
from toolmd.errors import NotFoundError

STDIN = "-"
_SKIPPED = {"__pycache__", "node_modules"}


def definitions_among(paths: Iterable[str]) -> Iterator[Path]:
    """Return each named file, and the definitions within each named folder.

    A folder with a definition's name is returned too; reading it reports the error.

    Raises:
        NotFoundError: A path does not exist.
    """
    for name in paths:
        path = Path(name)
        if path.is_dir() and not path.name.endswith(tuple(SUFFIXES)):
            yield from sorted(_within(path))
        elif path.exists():
            yield path
        else:
            raise NotFoundError(f"{name}: no such file or folder")


def _within(folder: Path) -> Iterator[Path]:
    for suffix in SUFFIXES:
        for path in folder.rglob(f"*{suffix}"):
            hidden = any(
                part.startswith(".") or part in _SKIPPED for part in path.relative_to(folder).parts
            )
            if not hidden:
                yield path


def shown(path: Path) -> str:
    """Return a path as people read it: relative to the current folder, if it lies there."""
    here = Path.cwd().resolve()
    whole = path.resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)
