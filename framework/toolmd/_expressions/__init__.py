"""Expressions: CEL compiled, checked against types, and evaluated within bounds."""

from toolmd._expressions.check import CheckedExpression, Checker
from toolmd._expressions.cursor import CursorScope, at_cursor, names_read
from toolmd._expressions.error import EvaluationError, ExpressionError
from toolmd._expressions.program import Program, compile_expression

__all__ = [
    "CheckedExpression",
    "Checker",
    "CursorScope",
    "EvaluationError",
    "ExpressionError",
    "Program",
    "at_cursor",
    "compile_expression",
    "names_read",
]
