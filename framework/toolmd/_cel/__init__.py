"""Expressions: CEL compiled, checked against types, and evaluated within bounds."""

from toolmd._cel.check import CheckedExpression, Checker, check_expression
from toolmd._cel.error import EvaluationError, ExpressionError
from toolmd._cel.program import Program, compile_expression

__all__ = [
    "CheckedExpression",
    "Checker",
    "EvaluationError",
    "ExpressionError",
    "Program",
    "check_expression",
    "compile_expression",
]
