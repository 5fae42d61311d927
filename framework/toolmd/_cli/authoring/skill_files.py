"""The files that an import copies, and that an export writes: a skill with its folder."""

import json
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolmd._cli.authoring.writing import write_all
from toolmd._export.exported import Exported


def copied_files(source: str, stem: str) -> tuple[dict[str, bytes], set[str], tuple[str, ...]]:
    """Read the folder of a SKILL.md, to be copied next to its definition.

    Args:
        source: The path of the SKILL.md; for another source there are no files.
        stem: The name of the definition's file, without its suffix.

    Returns:
        The content of each file by its path, the paths of the executable ones, and a sentence for
        each file that is left out.
    """
    from toolmd._workspace.skill_folders import SKILL_FILE, read_folder

    file = Path(source)
    if file.name != SKILL_FILE or not file.is_file():
        return {}, set(), ()
    found = read_folder(file.parent)
    files = {f"{stem}/{path}": place for path, place in found.files.items()}
    executable = {path for path, place in files.items() if place.stat().st_mode & 0o100}
    return {path: place.read_bytes() for path, place in files.items()}, executable, found.left_out


def write_exported(exported: Exported, folder: Path, *, force: bool) -> list[Path]:
    """Write an export into a folder: the files of skills, or one file with everything.

    Returns:
        The paths of the files.

    Raises:
        FileExistsError: A file exists, and `force` is False.
        OSError: A file can't be written.
    """
    items = exported.items
    files: dict[Path, str | bytes] = {}
    executable: set[Path] = set()
    if isinstance(items, str):
        files[folder / f"{exported.target}.md"] = items
    elif isinstance(items, list) and items and all("path" in item for item in items):
        for item in items:
            place = folder / item["path"]
            files[place] = _bytes(item)
            if item.get("executable"):
                executable.add(place)
    else:
        text = json.dumps(items, indent=2, ensure_ascii=False)
        files[folder / f"{exported.target}.json"] = f"{text}\n"
    write_all(files, force=force, executable=executable)
    return [*files]


def _bytes(item: Mapping[str, Any]) -> bytes:
    return b64decode(item["base64"]) if "base64" in item else str(item["text"]).encode()
