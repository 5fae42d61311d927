"""Expressions: CEL compiled, checked against types, and evaluated within bounds."""

from toolmd._expressions.check import CheckedExpression, Checker, check_expression
from toolmd._expressions.error import EvaluationError, ExpressionError
from toolmd._expressions.program import Program, compile_expression

__all__ = [
    "CheckedExpression",
    "Checker",
    "EvaluationError",
    "ExpressionError",
    "Program",
    "check_expression",
    "compile_expression",
]
