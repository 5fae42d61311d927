"""The files that an import copies: a skill with its folder."""

from pathlib import Path


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
