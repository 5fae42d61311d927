"""Expressions: a subset of CEL, compiled, checked against types, and evaluated within bounds."""

from toolmd._expressions.checker import (
    CALLER,
    NOW,
    CheckedExpression,
    Checker,
    CursorScope,
    at_cursor,
    compile_expression,
    names_read,
)
from toolmd._expressions.evaluator import Program
from toolmd._expressions.functions import AbsentError, EvaluationError
from toolmd._expressions.syntax import RESERVED, ExpressionError, Token, tokens

__all__ = [
    "CALLER",
    "NOW",
    "RESERVED",
    "AbsentError",
    "CheckedExpression",
    "Checker",
    "CursorScope",
    "EvaluationError",
    "ExpressionError",
    "Program",
    "Token",
    "at_cursor",
    "compile_expression",
    "names_read",
    "tokens",
]
