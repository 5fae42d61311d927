"""Write several files whole, all of them or none."""

import errno
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from toolmark._cli.terminal.whole import naming


def write_all(files: Mapping[Path, str], *, force: bool) -> None:
    """Write each text to its file; without `force` a file that is there is never touched.

    Raises FileExistsError for such a file, and OSError where one can't be written; then none
    of the new files stays.
    """
    ready: list[tuple[Path, Path]] = []
    made: list[Path] = []
    try:
        for target, text in files.items():
            _folder(target.parent)
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            ready.append((Path(name), target))
            with naming(target), os.fdopen(handle, "wb") as stream:
                stream.write(text.encode())
            Path(name).chmod(0o644)
        for draft, target in ready:
            if force:
                draft.replace(target)
            else:
                # A link never replaces, so whoever wrote there a moment ago keeps their file.
                target.hardlink_to(draft)
                made.append(target)
    except BaseException:
        for target in made:
            target.unlink(missing_ok=True)
        raise
    finally:
        for draft, _ in ready:
            draft.unlink(missing_ok=True)


def _folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "no folder, but a file", str(path))
    path.mkdir(parents=True, exist_ok=True)
