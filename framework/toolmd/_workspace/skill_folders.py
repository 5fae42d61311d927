"""The files of a skill: the folder of its name next to its definition, as Agent Skills have it."""

import os
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._export.exported import Exported, Loss
from toolmd._types.diagnostic import SUFFIXES
from toolmd._types.registry import BoundSkill
from toolmd._types.skill import SkillSpec

SKILL_FILE = "SKILL.md"
MAX_FILES = 1000
MAX_BYTES = 16 << 20
_SUFFIX = ".skill.md"
_FOLDERS = ("assets", "references", "scripts")
"""The folders of an Agent Skill; a folder without a SKILL.md has only them."""


class SkillFolder(NamedTuple):
    """The files that belong to a skill, and those that were left out."""

    files: Mapping[str, Path]
    """By their path within the folder, with slashes."""
    left_out: tuple[str, ...]
    """A sentence for each file, or for all of them, that does not belong to it."""


_EMPTY = SkillFolder({}, ())


def read_folder(folder: Path) -> SkillFolder:
    """List the files of a skill's folder.

    Left out are links, names that begin with a dot, compiled Python, definitions of Toolmd, and
    other skills within it; of a folder without a SKILL.md, all but its assets, references and
    scripts. A folder of more than MAX_FILES files or MAX_BYTES bytes has none.
    """
    if folder.is_symlink() or not folder.is_dir():
        return _EMPTY
    files: dict[str, Path] = {}
    left_out: list[str] = []
    size = 0
    for path in _walk(folder, "", left_out):
        entry = folder / path
        files[path] = entry
        size += entry.stat().st_size
        if len(files) > MAX_FILES or size > MAX_BYTES:
            most = f"{MAX_FILES:,} files or {MAX_BYTES >> 20} MiB"
            return SkillFolder({}, (f"its files are left out: they are more than {most}",))
    return SkillFolder(files, tuple(left_out))


def folder_of(definition: Path) -> SkillFolder:
    """List the files of the skill that a file defines; its folder has the name of the file."""
    stem = definition.name.removesuffix(_SUFFIX)
    return read_folder(definition.parent / stem)


def _walk(folder: Path, within: str, left_out: list[str]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        known = sorted(entries, key=lambda entry: entry.name)
    whole = bool(within) or any(entry.name == SKILL_FILE for entry in known)
    for entry in known:
        path = within + entry.name
        if not whole and (entry.name not in _FOLDERS or not entry.is_dir()):
            continue
        if entry.name == "__pycache__":
            continue
        if entry.is_symlink() or entry.name.startswith("."):
            why = "a link" if entry.is_symlink() else "its name begins with a dot"
            left_out.append(f"{path} is left out: {why}")
        elif entry.is_dir():
            if not Path(entry.path, SKILL_FILE).exists():
                yield from _walk(Path(entry.path), f"{path}/", left_out)
        elif entry.name.endswith(tuple(SUFFIXES)):
            left_out.append(f"{path} is left out: a definition of Toolmd")
        elif entry.is_file():
            yield path


def add_folders(exported: Exported, skills: Mapping[str, BoundSkill], root: Path) -> Exported:
    """Add the files of each skill of a project to its exported SKILL.md; see `with_files`."""
    specs = [bound.spec for bound in skills.values()]
    return with_files(exported, [(spec, root / spec.source.path) for spec in specs])


def with_files(exported: Exported, skills: Iterable[tuple[SkillSpec, Path]]) -> Exported:
    """Add the files next to each skill's definition to its exported SKILL.md.

    A SKILL.md in the skill's folder is exported as it is, as long as importing it again gives the
    same skill; after an edit of the definition, a new text takes its place.
    """
    from toolmd._export.agentskills import folder

    losses = list(exported.losses)
    items: list[dict[str, Any]] = []
    by_folder: dict[str, tuple[SkillSpec, Path]] = {}
    for spec, file in skills:
        by_folder.setdefault(f"{folder(spec.name)}/{SKILL_FILE}", (spec, file))
    assert isinstance(exported.items, list)
    for item in exported.items:
        known = by_folder.get(item["path"])
        items += [item] if known is None else _whole(item, *known, losses)
    return replace(exported, items=items, losses=tuple(losses))


def _whole(
    item: dict[str, Any], spec: SkillSpec, file: Path, losses: list[Loss]
) -> Sequence[dict[str, Any]]:
    files, left_out = folder_of(file)
    within = item["path"].removesuffix(SKILL_FILE)
    more = [{"path": within + path, **_content(files[path])} for path in files]
    originals = [one for one in more if one["path"] == item["path"]]
    if originals and _says_the_same(originals[0].get("text", ""), spec, file):
        # What the file can't say in the exported form is in the original.
        losses[:] = [loss for loss in losses if loss.tool != spec.name]
    elif originals:
        what = f"a new {SKILL_FILE} was written: the skill differs from the one in its folder"
        losses.append(Loss(spec.name, "", what))
        originals = []
    losses += [Loss(spec.name, "", text) for text in left_out]
    return [*(originals or [item]), *(one for one in more if one["path"] != item["path"])]


def _content(file: Path) -> dict[str, Any]:
    data = file.read_bytes()
    executable = {"executable": True} if file.stat().st_mode & 0o100 else {}
    try:
        return {"text": data.decode(), **executable}
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode(), **executable}


def _says_the_same(text: str, spec: SkillSpec, file: Path) -> bool:
    """Return whether importing the text gives this skill."""
    from toolmd._import.agentskills import read
    from toolmd._parse import parse_skill

    stem = file.name.removesuffix(_SUFFIX)
    drafts = read(text.removeprefix("\ufeff"), f"{stem}/{SKILL_FILE}").drafts
    again = parse_skill(drafts[0].text, file.name)[0] if drafts else None
    return again is not None and again.hash == spec.hash
