"""Diagnostics: findings about a definition, as values."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from toolmd._types.code import CONSEQUENCES
from toolmd._types.source import Span


class Severity(StrEnum):
    """The severity of a diagnostic: an error keeps the definition from loading."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Edit(NamedTuple):
    """A replacement of a part of a file by `text`; lines and columns from 1, the end exclusive."""

    line: int
    """Of the first character that goes."""
    column: int
    """Of that character."""
    end_line: int
    """Of the first character that stays."""
    end_column: int
    """Of that character."""
    text: str
    """What stands there then."""


class Diagnostic(NamedTuple):
    """A finding: what is wrong, where, how severe, and what to do."""

    span: Span
    """Where."""
    code: str
    """A kebab-case word of `Code`; the interface, while the message's words are not."""
    severity: Severity
    """The severity: an `error` keeps the definition from loading."""
    message: str
    """What is wrong."""
    help: str = ""
    """What to do."""
    fix: tuple[Edit, ...] = ()
    """The edits that do it, where it is safe."""

    @property
    def path(self) -> str:
        """The file's, below the project."""
        return self.span.path

    @property
    def line(self) -> int:
        """Where it begins, from 1."""
        return self.span.line

    @property
    def column(self) -> int:
        """Where it begins in its line, from 1."""
        return self.span.column

    @property
    def end_line(self) -> int:
        """Where it ends."""
        return self.span.end_line

    @property
    def end_column(self) -> int:
        """The place behind its end."""
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
    def kept(cls, fields: Sequence[Any]) -> "Diagnostic":
        """Build it from its JSON, where tuples are lists."""
        span, code, severity, message, help_, fix = fields
        edits = tuple(Edit(*edit) for edit in fix) if fix else ()
        return cls(Span(*span), code, _SEVERITIES[severity], message, help_, edits)

    def __str__(self) -> str:
        text = f"{self.span}: {self.severity}[{self.code}] {self.message}"
        return f"{text}\nhelp: {self.help}" if self.help else text


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort diagnostics by file and place; what follows from a file's errors comes behind them."""
    return tuple(sorted(diagnostics, key=_place))


def _place(found: Diagnostic) -> tuple[str, bool, Span, str, str]:
    return found.path, found.code in CONSEQUENCES, found.span, found.code, found.message


_SEVERITIES = {str(severity): severity for severity in Severity}
