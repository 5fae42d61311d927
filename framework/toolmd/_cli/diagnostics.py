"""Format diagnostics (full, concise, json, github, sarif), and apply their fixes."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from toolmd._cli.files import write_file
from toolmd._cli.screen import Paint, paint, plural, printable, width
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Edit, Severity

LinesOf = Callable[[str], Sequence[str]]
"""A function from a diagnostic's path to the lines of that file."""

_PAINTS: dict[Severity, Paint] = {
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.HINT: "cyan",
}


def lines_below(root: Path) -> LinesOf:
    """Return a cached reader of files' lines; an unreadable file has none."""
    known: dict[str, Sequence[str]] = {}

    def lines(path: str) -> Sequence[str]:
        if path not in known:
            try:
                text = (root / path).read_bytes().decode("utf-8-sig", "replace")
            except OSError:
                text = ""
            known[path] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return known[path]

    return lines


def full(diagnostics: Sequence[Diagnostic], lines: LinesOf) -> str:
    """Format each diagnostic with its source line, a caret below the place, and the help."""
    return "\n\n".join(_full(d, lines) for d in diagnostics)


def _full(diagnostic: Diagnostic, lines: LinesOf) -> str:
    span = diagnostic.span
    shown = [_head(diagnostic)]
    source = lines(span.path)
    if 0 < span.line <= len(source) and source[span.line - 1].strip():
        line = source[span.line - 1]
        gutter = " " * len(str(span.line))
        end = span.end_column if span.end_line == span.line else len(line) + 1
        before, meant = line[: span.column - 1], line[span.column - 1 : end - 1]
        # A tab stays a tab, so that the caret is in the right column at every tab width.
        indent = "".join("\t" if c == "\t" else " " * width(c) for c in before)
        caret = "^" * max(1, width(meant.rstrip()))
        pointer = indent + paint(caret, _PAINTS[diagnostic.severity])
        shown.append(f"{paint(f'{span.line} |', 'dim')} {printable(line.rstrip())}")
        shown.append(f"{paint(f'{gutter} |', 'dim')} {pointer}")
    if diagnostic.help:
        shown.append(f"{paint('help', 'cyan')}: {printable(diagnostic.help)}")
    return "\n".join(shown)


def _head(diagnostic: Diagnostic) -> str:
    label = f"{diagnostic.severity}[{diagnostic.code}]"
    marked = paint(label, _PAINTS[diagnostic.severity])
    message = printable(diagnostic.message)
    return f"{paint(printable(str(diagnostic.span)), 'bold')}: {marked} {message}"


def concise(diagnostics: Sequence[Diagnostic], _lines: LinesOf) -> str:
    """Format each diagnostic as one line."""
    return "\n".join(_head(d) for d in diagnostics)


def as_json(diagnostics: Sequence[Diagnostic], _lines: LinesOf) -> str:
    """Format diagnostics as the JSON list of docs/reference/json.md."""
    return json.dumps([d.to_dict() for d in diagnostics], ensure_ascii=False, indent=2)


def github(diagnostics: Sequence[Diagnostic], _lines: LinesOf) -> str:
    """Format diagnostics as GitHub's workflow commands."""
    return "\n".join(_command(d) for d in diagnostics)


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}


def _command(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    told = {
        "file": span.path,
        "line": span.line,
        "endLine": span.end_line,
        # A command's columns count only within one line.
        **(
            {"col": span.column, "endColumn": span.end_column} if span.line == span.end_line else {}
        ),
        "title": diagnostic.code,
    }
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in told.items())
    message = diagnostic.message
    if diagnostic.help:
        message += f"\nhelp: {diagnostic.help}"
    return f"::{_COMMANDS[diagnostic.severity]} {properties}::{_escape(message)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}


def sarif(diagnostics: Sequence[Diagnostic], _lines: LinesOf) -> str:
    """Format diagnostics as SARIF 2.1.0, one run."""
    from importlib.metadata import version

    codes = sorted({str(d.code) for d in diagnostics})
    says = {str(code): code.says for code in Code}
    rules = [{"id": code, "shortDescription": {"text": says.get(code, code)}} for code in codes]
    run = {
        "tool": {"driver": {"name": "toolmd", "version": version("toolmd"), "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(d, codes.index(str(d.code))) for d in diagnostics],
    }
    log = {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2)


def _sarif_result(diagnostic: Diagnostic, rule: int) -> dict[str, object]:
    span = diagnostic.span
    text = diagnostic.message
    if diagnostic.help:
        text += f"\nhelp: {diagnostic.help}"
    artifact = {"uri": quote(span.path)}
    region = _region(span.line, span.column, span.end_line, span.end_column)
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }
    if diagnostic.fix:
        replacements = [_replacement(edit) for edit in diagnostic.fix]
        change = {"artifactLocation": artifact, "replacements": replacements}
        result["fixes"] = [{"artifactChanges": [change]}]
    return result


def _replacement(edit: Edit) -> dict[str, object]:
    region = _region(edit.line, edit.column, edit.end_line, edit.end_column)
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {
        "startLine": max(line, 1),
        "startColumn": max(column, 1),
        "endLine": max(end_line, line, 1),
        "endColumn": max(end_column, 1),
    }


REPORTS: dict[str, Callable[[Sequence[Diagnostic], LinesOf], str]] = {
    "full": full,
    "concise": concise,
    "json": as_json,
    "github": github,
    "sarif": sarif,
}


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """Count the findings: `2 errors, 1 hint in 2 files`."""
    counts = Counter(d.severity for d in diagnostics)
    found = ", ".join(plural(counts[s], str(s)) for s in Severity if counts[s])
    files = len({d.span.path for d in diagnostics})
    return f"{found} in {plural(files, 'file')}" if found else "nothing found"


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
        changed = apply_edits(text, [edit for diagnostic in chosen for edit in diagnostic.fix])
        if changed != text:
            write_file(file, changed)
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


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
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
