"""Collect the findings of a skill, each with its place in the file."""

from collections.abc import Mapping

from toolmd._expressions import ExpressionError
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.schema import Schema
from toolmd._types.skill import Expression
from toolmd._types.source import Position, Source, Span


class StepFindings:
    """Diagnostics of one file, without duplicates."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: dict[Diagnostic, None] = {}
        self.scopes: dict[tuple[int, int], Mapping[str, Schema]] = {}
        """The names that each expression can read, by its line and column."""

    def add(
        self,
        code: Code,
        severity: Severity,
        at: int | Position,
        message: str,
        help: str = "",  # noqa: A002 - the word of a diagnostic
    ) -> None:
        """Add a finding at a position or a line; a line of 0 means the definition's title."""
        line, column, end_column = (at, 1, 0) if isinstance(at, int) else at
        line = line or self._source.line
        column = max(column, 1)
        span = Span(self._source.path, line, column, line, max(end_column, column + 1))
        self._found[Diagnostic(span, code, severity, message, help)] = None

    def error(
        self,
        code: Code,
        at: int | Position,
        message: str,
        help: str = "",  # noqa: A002
    ) -> None:
        """Add an error at a position or a line."""
        self.add(code, Severity.ERROR, at, message, help)

    def at(
        self,
        expression: Expression,
        code: Code,
        severity: Severity,
        message: str,
        help: str = "",  # noqa: A002
    ) -> None:
        """Add a finding on a whole expression."""
        column = max(expression.column, 1)
        end = column + len(expression.cel)
        self.add(code, severity, Position(expression.line, column, end), message, help)

    def broken(self, expression: Expression, error: ExpressionError) -> None:
        """Add an expression's syntax error at its place in the file."""
        line = expression.line + error.line - 1 if expression.line else 0
        first = error.line == 1
        column = error.column + (max(expression.column, 1) - 1 if first else 0)
        self.add(
            Code.INVALID_EXPRESSION,
            Severity.ERROR,
            Position(line, column, column + 1),
            f"`{_short(expression.cel)}`: {error.message}",
            error.help,
        )

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Return the findings in the file's order."""
        return tuple(sorted(self._found, key=lambda d: (d.span.line, d.span.column, d.code)))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004 - a line's worth
