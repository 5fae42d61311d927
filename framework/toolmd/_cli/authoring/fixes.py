"""Apply the edits that diagnostics propose, file by file."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from toolmd._cli.files import replace_file
from toolmd._types.diagnostic import Diagnostic, Edit

_BOM = "\ufeff"
_LINE_END = re.compile(r"\r\n?|\n")


class Fixed(NamedTuple):
    """The fixes that were applied to one file."""

    path: str
    codes: tuple[str, ...]
    """The code of each diagnostic whose edits were applied."""


def fix_files(diagnostics: Iterable[Diagnostic], root: Path) -> list[Fixed]:
    """Apply the fixes that do not overlap; write each file completely or not at all.

    The diagnostics of the next check contain the fixes that were left out.

    Raises:
        OSError: A file can't be written.
    """
    by_path: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.fix:
            by_path.setdefault(diagnostic.span.path, []).append(diagnostic)
    fixed = []
    for path, found in sorted(by_path.items()):
        file = root / path
        text = file.read_bytes().decode("utf-8")
        chosen = _apart(found)
        changed = edited(text, [edit for diagnostic in chosen for edit in diagnostic.fix])
        if changed != text:
            replace_file(file, changed)
            fixed.append(Fixed(path, tuple(str(d.code) for d in chosen)))
    return fixed


def _apart(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    taken: list[Edit] = []
    chosen = []
    for diagnostic in diagnostics:
        if any(_touch(edit, other) for edit in diagnostic.fix for other in taken):
            continue
        taken += diagnostic.fix
        chosen.append(diagnostic)
    return chosen


def _touch(one: Edit, other: Edit) -> bool:
    start, end = (one.line, one.column), (one.end_line, one.end_column)
    other_start, other_end = (other.line, other.column), (other.end_line, other.end_column)
    return start == other_start or (start < other_end and other_start < end)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits applied from the bottom up; line endings stay the same."""
    mark, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    ending = "\r\n" if "\r\n" in text else "\n"
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    for edit in sorted(set(edits), reverse=True):
        start = _offset(starts, edit.line, edit.column, len(text))
        end = _offset(starts, edit.end_line, edit.end_column, len(text))
        new = edit.text.replace("\r\n", "\n").replace("\n", ending)
        text = text[:start] + new + text[max(start, end) :]
    return mark + text


def _offset(starts: list[int], line: int, column: int, longest: int) -> int:
    if line > len(starts):
        return longest
    return min(starts[line - 1] + column - 1, longest)
