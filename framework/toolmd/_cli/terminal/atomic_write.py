"""Write a file completely or not at all, and name the file in every error."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
