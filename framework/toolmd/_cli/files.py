"""Find and write files: each one whole, with the file's name in every error."""

import errno
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from toolmd._types.diagnostic import SUFFIXES
from toolmd.errors import NotFoundError

STDIN = "-"
_SKIPPED = {"__pycache__", "node_modules"}
_BLOCK = 4096
"""The bytes that are written to test for free space."""


def definitions_among(paths: Iterable[str]) -> Iterator[Path]:
    """Return each named file, and the definitions within each named folder.

    A folder with a definition's name is returned too; reading it reports the error.

    Raises:
        NotFoundError: A path does not exist.
    """
    for name in paths:
        path = Path(name)
        if path.is_dir() and not path.name.endswith(tuple(SUFFIXES)):
            yield from sorted(
                one for suffix in SUFFIXES for one in files_within(path, f"*{suffix}")
            )
        elif path.exists():
            yield path
        else:
            raise NotFoundError(f"{name}: no such file or folder")


def files_within(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the files of a pattern below a folder, but for those in hidden folders."""
    for path in folder.rglob(pattern):
        parts = path.relative_to(folder).parts
        if not any(part.startswith(".") or part in _SKIPPED for part in parts):
            yield path


def path_here(path: Path) -> str:
    """Return a path as people read it: relative to the current folder, if it lies there."""
    here = Path.cwd().resolve()
    whole = path.resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def write_file(file: Path, data: str | bytes, *, force: bool = True, mode: int = 0o644) -> None:
    """Write a whole file in one step, so that a reader sees the old content or the new one.

    Raises:
        FileExistsError: The file exists, and `force` is False.
        OSError: The file can't be written; the error has its name.
    """
    real = file.resolve() if force else file
    if not real.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(real.parent))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data.encode() if isinstance(data, str) else data)
        draft.chmod(real.stat().st_mode & 0o7777 if real.exists() else mode)
        if force:
            draft.replace(real)
        else:
            # A hard link never replaces a file that another process has just written.
            real.hardlink_to(draft)
    except OSError as error:
        if error.filename is None:  # such as that of a full disk
            error.filename = str(real)
        raise
    finally:
        draft.unlink(missing_ok=True)


def write_files(
    files: Mapping[Path, str | bytes], *, force: bool, executable: Collection[Path] = ()
) -> None:
    """Write each file, and create its folder; none if one exists and `force` is False.

    Raises:
        FileExistsError: A file exists, and `force` is False.
        OSError: A file can't be written.
    """
    if not force and (there := [file for file in files if os.path.lexists(file)]):
        raise FileExistsError(errno.EEXIST, "exists already", str(there[0]))
    for file, data in files.items():
        if file.parent.exists() and not file.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "a file, not a folder", str(file.parent))
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, data, force=force, mode=0o755 if file in executable else 0o644)


def state_problem(state: Path) -> tuple[str, str] | None:
    """Return why the state folder can't be written, and the remedy; None if it can."""
    nearest = next(folder for folder in (state, *state.parents) if folder.exists())
    try:
        if nearest == state:
            with tempfile.TemporaryFile(dir=state) as file:
                file.write(bytes(_BLOCK))
        elif not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(13, f"{nearest} can't be written")  # one remedy
    except OSError as error:
        full = error.errno == errno.ENOSPC
        remedy = "free some space there" if full else "get permission to write there"
        return f"{state}: {error.strerror}", f"{remedy}, or set TOOLMD_STATE"
    return None
