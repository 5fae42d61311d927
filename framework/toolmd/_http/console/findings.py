"""Prepare diagnostics for a page: the source line, and the marked part of it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from toolmd._types.diagnostic import Diagnostic, Severity

_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}


class Finding(NamedTuple):
    """A diagnostic and its source line."""

    diagnostic: Diagnostic
    before: str = ""
    meant: str = ""
    """The part above the caret; empty if the line can't be shown."""
    after: str = ""

    @property
    def has_line(self) -> bool:
        """Whether the source line can be shown."""
        return bool(self.before or self.meant or self.after)

    @property
    def carets(self) -> str:
        """A caret for each marked character."""
        return "^" * max(1, len(self.meant.rstrip()))


class FileFindings(NamedTuple):
    """The findings in one file."""

    path: str
    findings: tuple[Finding, ...]

    def count(self, severity: str) -> int:
        """Count the findings of one severity."""
        return sum(f.diagnostic.severity == severity for f in self.findings)

    @property
    def worst(self) -> str:
        """The highest severity of the findings."""
        return min((f.diagnostic.severity for f in self.findings), key=_ORDER.__getitem__)


class FileLines:
    """The lines of a project's files, each read once; an unreadable file has none."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, Sequence[str]] = {}

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a diagnostic's file."""
        if path not in self._known:
            self._known[path] = self.text(path).split("\n")
        return self._known[path]

    def text(self, path: str) -> str:
        """Return a file's text; "" if it can't be read."""
        try:
            text = (self._root / path).read_bytes().decode("utf-8-sig", "replace")
        except (OSError, ValueError):
            return ""
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def finding(self, diagnostic: Diagnostic) -> Finding:
        """Return a diagnostic with its line."""
        span = diagnostic.span
        lines = self.lines(span.path)
        if not 0 < span.line <= len(lines) or not lines[span.line - 1].strip():
            return Finding(diagnostic)
        line = lines[span.line - 1].rstrip()
        start = max(span.column - 1, 0)
        end = span.end_column - 1 if span.end_line == span.line else len(line)
        end = max(end, start)
        return Finding(diagnostic, line[:start], line[start:end], line[end:])


def by_file(diagnostics: Iterable[Diagnostic], source: FileLines) -> dict[str, FileFindings]:
    """Return the findings of each file, files with errors first."""
    paths: dict[str, list[Finding]] = {}
    for diagnostic in diagnostics:
        paths.setdefault(diagnostic.span.path, []).append(source.finding(diagnostic))
    files = [FileFindings(path, tuple(found)) for path, found in paths.items()]
    files.sort(key=lambda file: (_ORDER[Severity(file.worst)], file.path))
    return {file.path: file for file in files}
