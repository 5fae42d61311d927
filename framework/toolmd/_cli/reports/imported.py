"""Print what an import wrote, what it guessed and lost, and what somebody must decide."""

import sys
from collections.abc import Iterator
from typing import Any

from toolmd._cli.screen import err, out, out_json, paint, printable
from toolmd._types.imported import RESTRICTED, Note
from toolmd._types.source import SUFFIXES

_NAMED = 5
"""The most names before one note."""


def tell_imported(imported: dict[str, Any], paths: list[str], *, json: bool) -> None:
    """Print what was written, each note once, and what to do next.

    Args:
        imported: The drafts as `files`, by name, the `notes` and the `refused` items.
        paths: The files that were written.
        json: Whether stdout gets JSON; stderr has the notes in any case.
    """
    if json:
        out_json({"written": paths, "notes": imported["notes"], "refused": imported["refused"]})
    else:
        for path in _folded(paths):
            out(f"{paint('made', 'green', sys.stdout)} {path}")
    for heading, how, told in (("note", "cyan", "notes"), ("not imported", "red", "refused")):
        for text in _once(imported[told]):
            err(f"{paint(heading, how, sys.stderr)}: {printable(text)}")  # type: ignore[arg-type]
    if not paths:
        err("Nothing was imported." if imported["refused"] else "There is nothing new to import.")
    elif not json and (left := _undecided(imported["files"])):
        err(f"Next: decide about {left} restricting {'sentence' if left == 1 else 'sentences'}: "
            "write a field instead of its line, delete the line, or list the sentence in "
            "`[imports] decided` and import again with --force; then run toolmd check")  # fmt: skip
    elif not json:
        err("Next: review the drafts, then run toolmd check")


def _folded(paths: list[str]) -> Iterator[str]:
    """Yield the definitions, and after each one the number of files in its folder."""
    for path in paths:
        if not path.endswith(tuple(SUFFIXES)):
            continue
        yield path
        folder = path.removesuffix(".skill.md") + "/"
        if inside := sum(one.startswith(folder) for one in paths):
            yield f"{folder} ({inside} {'file' if inside == 1 else 'files'})"
    yield from (path for path in paths if path.endswith(".toml"))


def _once(notes: list[dict[str, Any]]) -> Iterator[str]:
    """Yield each note once, with its places; of many values of one key, only the first."""
    places: dict[tuple[str, int], list[str]] = {}
    forms: dict[str, set[str]] = {}
    for note in notes:
        found = (part for part in (note["definition"], note.get("path", "")) if part)
        places.setdefault((note["text"], note["line"]), []).append(".".join(found))
        if not note["line"]:
            forms.setdefault(_kind(note["text"]), set()).add(note["text"])
    shown: dict[tuple[str, int], tuple[str, list[str]]] = {}
    for (text, line), about in places.items():
        # A note on a line of the source is about one place.
        many = not line and len(forms[_kind(text)]) > _NAMED
        shown.setdefault((_kind(text) if many else text, line), (text, []))[1].extend(about)
    for (kind, line), (text, about) in shown.items():
        more = f" and {len(about) - _NAMED} more" if len(about) > _NAMED else ""
        end = "" if kind == text else f" (--json has the other {len(forms[kind]) - 1})"
        yield str(Note(", ".join(about[:_NAMED]) + more, "", text + end, line))


def _kind(text: str) -> str:
    """Return the part of a note that many notes share: `` `url` is not kept``."""
    head, middle, _ = text.partition(" is not kept: ")
    return head + middle if middle else text


def _undecided(files: dict[str, Any]) -> int:
    """Return the number of different sentences about which somebody must decide."""
    texts = (text for text in files.values() if isinstance(text, str))
    return len({sentence for text in texts for sentence in RESTRICTED.findall(text)})
