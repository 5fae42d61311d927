"""Find the lines of a tool's text that its draft does not contain."""

import re
from collections.abc import Iterable, Iterator

from toolmd.importing import restricts
from toolmd_catalog.layout.blocks import Block, Bullets, Fence, Paragraph, Part, Raw, Table
from toolmd_catalog.layout.entries import ToolEntry
from toolmd_catalog.layout.headings import heading_text
from toolmd_catalog.parameters.lines import says_none
from toolmd_catalog.words import clean

_READ = frozenset(("safety", "limits"))
"""Roles whose every sentence is read or kept already."""
_WORD = re.compile(r"[^\W_]+")
_FORM = frozenset(
    "a an and are arg argument arguments array be bool boolean default defaults description dict "
    "example examples field float in input inputs int integer is it list meaning name no none "
    "number object of optional or param parameter parameters params required return returns str "
    "string table the this tool type usage value yes".split()
)
"""Words that tell how a text is laid out, or that fields replace."""
_MISSING = 1 / 3
"""The part of a line's words that the draft may lack."""


def leftovers(entry: ToolEntry, drafted: str, names: Iterable[str]) -> list[tuple[str, int]]:
    """Return the texts that the draft lacks, each with its line.

    Args:
        entry: The tool as the catalogue shows it.
        drafted: All text of the draft and of the notes about it.
        names: The names of its parameters; a line that begins with one has been read.
    """
    have = _words(drafted)
    known = {name.casefold() for name in names}
    found = []
    for span in entry.spans:
        if span.role in _READ:
            continue
        for text, line in [(span.text, span.line), *_texts(span.blocks)]:
            first = clean(text).strip("` *").partition(" ")[0].strip("`:*,").casefold()
            words = _words(text) - _FORM
            if first not in known and not says_none(text) and _lacks(words, have):
                found.append((text, line))
    return found


def untold(parts: Iterable[Part], told: str, read: Iterable[int]) -> list[tuple[str, int]]:
    """Return a note, and its line, for each part with lines that no draft and no note contains.

    Args:
        parts: The parts of the catalogue that describe no tool.
        told: All text of the drafts and of the notes.
        read: The lines of which a note tells already.
    """
    have, known = _words(told), set(read)
    found = []
    for part in parts:
        texts = [(text, at) for text, at in _texts(part.blocks) if at not in known]
        lines = [at for text, at in texts if _lacks(_words(text) - _FORM, have)]
        if not lines:
            continue
        heading = heading_text(part.heading.text) or "the beginning"
        where = f"lines {lines[0]}\N{EN DASH}{lines[-1]}" if len(lines) > 1 else f"line {lines[0]}"
        note = f"{heading!r}, {where}, describes no tool: not imported"
        limits = [str(at) for text, at in texts if at in lines and restricts(text)]
        if limits:
            note += f"; read what it restricts: {', '.join(dict.fromkeys(limits))}"
        found.append((note, lines[0]))
    return found


def _lacks(words: set[str], have: set[str]) -> bool:
    return bool(words) and len(words - have) >= len(words) * _MISSING


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _texts(blocks: Iterable[Block]) -> Iterator[tuple[str, int]]:
    """Return each paragraph, bullet, row and piece of code."""
    for block in blocks:
        match block:
            case Paragraph() | Raw():
                yield " ".join(block.mark.text.split()), block.mark.line
            case Fence():
                yield " ".join(block.content.split()), block.mark.line
            case Bullets():
                for item in block.items:
                    yield " ".join(item.mark.text.split()), item.line
                    yield from _texts(item.blocks)
            case Table():
                for row in block.rows:
                    cells = [cell.text.strip() for cell in row if cell.text.strip()]
                    yield " | ".join(cells), row[0].line if row else 0
