"""Find and write files: completely or not at all, with the file's name in every error."""

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
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


def path_here(path: Path) -> str:
    """Return a path as people read it: relative to the current folder, if it lies there."""
    here = Path.cwd().resolve()
    whole = path.resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def replace_file(file: Path, text: str) -> None:
    """Write a whole file in one step, so that a reader sees the old text or the new one."""
    real = file.resolve()
    if not real.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(real.parent))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with naming(real), os.fdopen(handle, "wb") as stream:
            stream.write(text.encode())
        if real.exists():
            Path(name).chmod(real.stat().st_mode & 0o7777)
        else:
            Path(name).chmod(0o644)
        Path(name).replace(real)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Add the file's name to errors without one, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(file)
        raise


def write_all(
    files: Mapping[Path, str | bytes], *, force: bool, executable: Collection[Path] = ()
) -> None:
    """Write each text to its file; without `force`, never change a file that exists.

    After an error, every file is as it was before. `executable` are the files that may be run.

    Raises:
        FileExistsError: A file exists, and `force` is False.
        OSError: A file can't be written.
    """
    drafts: dict[Path, Path] = {}
    before: dict[Path, Path] = {}
    done: list[Path] = []
    try:
        for target, text in files.items():
            _folder(target.parent)
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            drafts[target] = Path(name)
            with naming(target), os.fdopen(handle, "wb") as stream:
                stream.write(text.encode() if isinstance(text, str) else text)
            drafts[target].chmod(0o755 if target in executable else 0o644)
            if force and os.path.lexists(target):
                before[target] = Path(f"{name}.before")
                with naming(target):
                    shutil.copy2(target, before[target], follow_symlinks=False)
        for target, draft in drafts.items():
            if force:
                draft.replace(target)
            else:
                # A hard link never replaces a file that another process has just written.
                target.hardlink_to(draft)
            done.append(target)
    except BaseException:
        for target in done:
            if target in before:
                before[target].replace(target)
            else:
                target.unlink(missing_ok=True)
        raise
    finally:
        for file in (*drafts.values(), *before.values()):
            file.unlink(missing_ok=True)


def _folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "a file, not a folder", str(path))
    path.mkdir(parents=True, exist_ok=True)


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
