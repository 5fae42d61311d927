"""The ways in which programs save a file, step by step as they do it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

Save = Callable[[Path, str], None]


def vim(file: Path, text: str) -> None:
    """Probe the folder with 4913, move the old file aside, write the new one, drop the old."""
    probe = file.with_name("4913")
    probe.touch()
    probe.unlink()
    swap = file.with_name(f".{file.name}.swp")
    swap.write_text("swap")
    aside = file.with_name(f"{file.name}~")
    file.rename(aside)
    file.write_text(text)
    aside.unlink()
    swap.unlink()


def emacs(file: Path, text: str) -> None:
    """Lock by a link to nowhere, autosave, copy the old file aside, write in place, unlock."""
    lock = file.with_name(f".#{file.name}")
    lock.symlink_to("me@here.4711:1")
    autosave = file.with_name(f"#{file.name}#")
    autosave.write_text(text)
    file.with_name(f"{file.name}~").write_text(file.read_text())
    file.write_text(text)
    autosave.unlink()
    lock.unlink()


def atomic(file: Path, text: str) -> None:
    """Write a hidden draft and put it in the file's place, as VS Code's and JetBrains' can."""
    draft = file.with_name(f".{file.name}.tmp")
    draft.write_text(text)
    draft.replace(file)


def from_elsewhere(file: Path, text: str) -> None:
    """Put a file of another folder in its place."""
    draft = file.parent.parent / "draft"
    draft.write_text(text)
    draft.replace(file)


def in_place(file: Path, text: str) -> None:
    """Truncate, and write in pieces."""
    with file.open("w") as opened:
        for start in range(0, len(text), 100):
            opened.write(text[start : start + 100])
            opened.flush()
            os.fsync(opened.fileno())


def again(file: Path, text: str) -> None:
    """Delete the file and write it anew."""
    file.unlink()
    file.write_text(text)


def sed(file: Path, text: str) -> None:
    """Have the system's own sed do it."""
    old, new = file.read_text().split("\n"), text.split("\n")
    number = next(n for n, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1])
    command = f"{number + 1}s/.*/{new[number]}/"
    subprocess.run(["sed", "-i", command, str(file)], check=True)


EDITORS: tuple[Save, ...] = (vim, emacs, atomic, from_elsewhere, in_place, again, sed)
