"""Write several files completely, all of them or none."""

import errno
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from toolmd._cli.terminal.atomic_write import naming


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
