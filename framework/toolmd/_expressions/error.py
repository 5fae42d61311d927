"""The errors of compiling and evaluating an expression."""

from toolmd.errors import ToolmdError


class ExpressionError(ToolmdError):
    """An expression that can't be compiled, or does not fit the types of its names."""

    def __init__(self, message: str, column: int = 1, *, line: int = 1, help: str = "") -> None:  # noqa: A002 - the word of a diagnostic
        super().__init__(message)
        self.message = message
        self.line = line
        """From 1, within the expression."""
        self.column = column
        """From 1, in code points within that line."""
        self.help = help
        """What to write instead; empty if there is no suggestion."""


class EvaluationError(ToolmdError):
    """The error of an evaluation without a value; the message states the reason."""
