"""The errors, warnings and hints that Toolmd reports to the author of a definition."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from toolmd._types.code import CONSEQUENCES

SUFFIXES: Mapping[str, str] = {".tool.md": "tool", ".skill.md": "skill"}
"""The ends of the names of definitions, each with the kind of definition."""


class Span(NamedTuple):
    """A part of one file; lines and columns count from 1, the end column is exclusive."""

    path: str
    """Relative to the project, with slashes."""
    line: int
    """The line of the first character."""
    column: int
    """The column of the first character, in code points."""
    end_line: int
    """The line of the position after the last character."""
    end_column: int
    """The column of that position."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class Position(NamedTuple):
    """The position of a word in a line; it is not part of a spec's meaning."""

    line: int
    """From 1."""
    column: int
    """From 1, in code points."""
    end_column: int
    """The column after the last character."""


class Source(NamedTuple):
    """The file of a definition, and the line of its title."""

    path: str
    """Relative to the project, with slashes."""
    line: int
    """From 1."""


class Severity(StrEnum):
    """The severity of a diagnostic; a definition with an error does not load."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Edit(NamedTuple):
    """A replacement of a part of a file; lines and columns count from 1, the end is exclusive."""

    line: int
    """The line of the first replaced character."""
    column: int
    """The column of that character."""
    end_line: int
    """The line of the first character after the replaced part."""
    end_column: int
    """The column of that character."""
    text: str
    """The new text."""


class Diagnostic(NamedTuple):
    """One finding in a definition: what is wrong, where, how severe, and what to do."""

    span: Span
    """The part of the file."""
    code: str
    """A kebab-case word of `Code`; it is stable, the message is not."""
    severity: Severity
    """An `error` keeps the definition from loading."""
    message: str
    """The problem."""
    help: str = ""
    """The remedy."""
    fix: tuple[Edit, ...] = ()
    """The edits that fix it, if that is safe."""

    @property
    def path(self) -> str:
        """The path of the file, relative to the project."""
        return self.span.path

    @property
    def line(self) -> int:
        """The line where it begins, from 1."""
        return self.span.line

    @property
    def column(self) -> int:
        """The column where it begins, from 1."""
        return self.span.column

    @property
    def end_line(self) -> int:
        """The line where it ends."""
        return self.span.end_line

    @property
    def end_column(self) -> int:
        """The column after its last character."""
        return self.span.end_column

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON (json.md, "A diagnostic")."""
        return {
            **self.span._asdict(),
            "code": str(self.code),
            "severity": str(self.severity),
            "message": self.message,
            "help": self.help or None,
            "fix": [edit._asdict() for edit in self.fix],
        }

    @classmethod
    def from_fields(cls, fields: Sequence[Any]) -> "Diagnostic":
        """Build a diagnostic from its fields as JSON stores them, with lists for tuples."""
        span, code, severity, message, help_, fix = fields
        edits = tuple(Edit(*edit) for edit in fix) if fix else ()
        return cls(Span(*span), code, _SEVERITIES[severity], message, help_, edits)

    def __str__(self) -> str:
        text = f"{self.span}: {self.severity}[{self.code}] {self.message}"
        return f"{text}\nhelp: {self.help}" if self.help else text


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort diagnostics by file and place; consequences come after the errors that cause them."""
    return tuple(sorted(diagnostics, key=_place))


def _place(found: Diagnostic) -> tuple[str, bool, Span, str, str]:
    return found.path, found.code in CONSEQUENCES, found.span, found.code, found.message


_SEVERITIES = {str(severity): severity for severity in Severity}
