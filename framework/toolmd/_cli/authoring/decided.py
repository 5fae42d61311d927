"""Remove from drafts the restricting sentences about which somebody has decided."""

import re
from collections.abc import Iterable
from typing import Any

from toolmd._types.imported import RESTRICTED, undecided


def drop_decided(imported: dict[str, Any], patterns: Iterable[str]) -> None:
    """Remove the lines of decided sentences from drafts, and note each of them.

    Args:
        imported: The drafts as `files`, by name, and the `notes`; both are changed.
        patterns: The sentences of `[imports] decided`; a `*` stands for any text.
    """
    parts = [re.escape(pattern).replace(r"\*", ".*") for pattern in patterns]
    known = re.compile("|".join(parts) if parts else r"(?!)", re.IGNORECASE)
    decided: dict[str, str] = {}

    def kept(line: re.Match[str]) -> str:
        sentence = line[1]
        if known.fullmatch(sentence) is None:
            return line[0]
        decided[undecided(sentence)] = f"{sentence!r} stays prose: `[imports] decided` names it"
        return ""

    for name, text in imported["files"].items():
        if isinstance(text, str):
            imported["files"][name] = RESTRICTED.sub(kept, text)
    for note in imported["notes"]:
        note["text"] = decided.get(note["text"], note["text"])
