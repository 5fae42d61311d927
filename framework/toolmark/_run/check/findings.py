"""Collect what is wrong with a skill, each with its place in the file."""

from toolmark._cel import ExpressionError
from toolmark._model.code import Code
from toolmark._model.diagnostic import Diagnostic, Severity
from toolmark._model.skill import Expression
from toolmark._model.source import Source, Span


class Findings:
    """Diagnostics of one file; the same one is kept once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: dict[Diagnostic, None] = {}

    def add(  # noqa: PLR0913, PLR0917 - a diagnostic told whole
        self,
        code: Code,
        severity: Severity,
        line: int,
        message: str,
        help: str = "",  # noqa: A002 - the word of a diagnostic
        column: int = 1,
        end_column: int = 0,
    ) -> None:
        """Add a finding on one line; a line of 0 means the definition's title."""
        line = line or self._source.line
        column = max(column, 1)
        span = Span(self._source.path, line, column, line, max(end_column, column + 1))
        self._found[Diagnostic(span, code, severity, message, help)] = None

    def error(self, code: Code, line: int, message: str, help: str = "") -> None:  # noqa: A002
        """Add an error on a line."""
        self.add(code, Severity.ERROR, line, message, help)

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
        self.add(code, severity, expression.line, message, help, column, end)

    def broken(self, expression: Expression, error: ExpressionError) -> None:
        """Add an expression's mistake where it is."""
        line = expression.line + error.line - 1 if expression.line else 0
        first = error.line == 1
        column = error.column + (max(expression.column, 1) - 1 if first else 0)
        self.add(
            Code.INVALID_EXPRESSION,
            Severity.ERROR,
            line,
            f"`{_short(expression.cel)}`: {error.message}",
            error.help,
            column,
        )

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Give the findings in the file's order."""
        return tuple(sorted(self._found, key=lambda d: (d.span.line, d.span.column, d.code)))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004 - a line's worth
