"""Return whether git is writing the project's files."""

from pathlib import Path

LOCK = "index.lock"


def index_lock(root: Path) -> Path | None:
    """Return the file that is there while git writes the files around `root`; None without git."""
    for folder in (root, *root.parents):
        own = folder / ".git"
        if own.is_dir():
            return own / LOCK
        if own.is_file():
            # A work tree or a submodule: the file names the folder.
            _, _, named = own.read_text(encoding="utf-8", errors="replace").partition("gitdir:")
            return (folder / named.strip()) / LOCK
    return None
