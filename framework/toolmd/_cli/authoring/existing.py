"""Leave out of an import the definitions that would replace a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolmd._cli.files import shown
from toolmd._types.imported import Draft

HELP = "--force overwrites it; --out DIR writes to another folder"


def leave_out(imported: dict[str, Any], target: Callable[[str], Path]) -> list[Draft]:
    """Remove the definitions of which a file exists, with the folders of skills and their notes.

    Args:
        imported: The drafts as `files`, by name, the `notes` and the `refused` items; all are
            changed.
        target: Returns the path of a file.

    Returns:
        The drafts of the definitions that were removed.
    """
    taken: dict[str, Path] = {}
    for name, content in imported["files"].items():
        path = target(name)
        if path.exists() and not is_there(path, content):
            taken.setdefault(_definition(name), path)
    names = {stem.partition(".")[0].replace("-", "_") for stem in taken}
    drafts = [
        Draft("tool", "", content)
        for name, content in imported["files"].items()
        if _definition(name) in taken and isinstance(content, str)
    ]
    imported["files"] = {
        name: content
        for name, content in imported["files"].items()
        if _definition(name) not in taken
    }
    imported["notes"] = [note for note in imported["notes"] if note["definition"] not in names]
    imported["refused"] += [
        {
            "definition": stem.partition(".")[0].replace("-", "_"),
            "text": f"{shown(path)} exists already; {HELP}",
            "line": 0,
        }
        for stem, path in taken.items()
    ]
    return drafts


def is_there(path: Path, content: str | bytes) -> bool:
    """Return whether a copied file has its content already, as where a skill stays in its place."""
    return isinstance(content, bytes) and path.is_file() and path.read_bytes() == content


def _definition(name: str) -> str:
    """Return the same word for a skill's definition and the files of its folder."""
    return name.partition("/")[0].removesuffix(".skill.md")
