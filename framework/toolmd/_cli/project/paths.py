"""The definitions that are meant by paths on the command line."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from toolmd.errors import NotFoundError

STDIN = "-"
SUFFIXES = {".tool.md": "tool", ".skill.md": "skill"}
_SKIPPED = {"__pycache__", "node_modules"}


def definitions_among(paths: Iterable[str]) -> Iterator[Path]:
    """Give each file that is named, and the definitions within each folder that is named.

    A folder with a definition's name is given too: reading it tells what is wrong with it.

    Raises NotFoundError for a path that is not there.
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
