"""A catalogue's lines: its front matter left out, signs in the wrong encoding found."""

from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
"""The line that opens front matter, and those that close it."""
_ENCODINGS = ("mac_roman", "cp1252")
_MOST_GARBLED = 20


class Mark(NamedTuple):
    """A piece of text and the line in which it begins, from 1."""

    text: str
    line: int


@dataclass(slots=True)
class Page:
    """The lines of a catalogue, and the notes on what is not read of them."""

    lines: list[str]
    """Read as markdown; those of the front matter are empty."""
    notes: list[tuple[str, int]] = field(default_factory=list)
    """What is not read, and its line."""
    garbled: set[int] = field(default_factory=set)
    """The lines that hold signs in the wrong encoding."""


def page_of(text: str) -> Page:
    """Return the page of a text; lines end at newlines only, as markdown-it-py ends them."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    page = Page(text.split("\n"))
    _leave_front_matter(page)
    _find_garbled(page)
    return page


def _leave_front_matter(page: Page) -> None:
    """Empty the lines between `---` at the head of a page; the others keep their numbers."""
    start = next((i for i, line in enumerate(page.lines) if line.strip()), 0)
    sign = page.lines[start].rstrip()
    if sign not in _FENCES:
        return
    behind = enumerate(page.lines[start + 1 :], start + 1)
    end = next((i for i, line in behind if line.rstrip() in _FENCES[sign]), 0)
    below = page.lines[start + 1 : end or start + 2]
    if (start or not end) and not (below and _is_key(below[0])):
        return  # a rule above the title
    page.lines[: end + 1] = [""] * (end + 1)
    if not end:
        text = f"the front matter that begins with {sign} is never closed: not read"
        page.notes.append((text, start + 1))


def _is_key(line: str) -> bool:
    key, sign, _ = line.partition(":")
    return bool(sign) and key.replace("_", "").replace("-", "").isalnum()


def _find_garbled(page: Page) -> None:
    """Note each run of letters that are UTF-8 bytes read in another encoding."""
    found = 0
    for number, line in enumerate(page.lines, 1):
        for ascii_, group in groupby(line, key=str.isascii):
            text = "".join(group)
            meant = None if ascii_ else _meant(text)
            if meant is None:
                continue
            wrong = f"'{text}' looks like '{meant}' saved in the wrong encoding"
            page.notes.append((f"{wrong}; nothing is read from such signs", number))
            page.garbled.add(number)
            found += 1
            if found == _MOST_GARBLED:
                return


def _meant(text: str) -> str | None:
    if len(text) < 2:  # noqa: PLR2004 - UTF-8 needs two bytes for what is not ASCII
        return None
    for encoding in _ENCODINGS:
        try:
            meant = text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        if len(meant) < len(text):
            return meant
    return None
