"""Find what is no part of an expression, such as `EUR` in `50 EUR`, and suggest what to write."""

import re
from collections.abc import Callable
from itertools import pairwise

from toolmd._expressions.error import ExpressionError
from toolmd._expressions.lexer import Token, tokens
from toolmd._expressions.prose import CONJUNCTIONS, SIGNS, UNIT

_CLOSING = frozenset(")]}")
_WORDS = {word: sign for sign, words in CONJUNCTIONS.items() for word in words.split("|")}
_OPERATORS = _WORDS | {"not": "!", "is": "==", "equals": "=="}
"""Words that people write for an operator of CEL."""
_MARKS = {
    "=": "==",
    "===": "==",
    "!==": "!=",
    "<>": "!=",
    "=>": ">=",
    "=<": "<=",
    "&": "&&",
    "|": "||",
}
"""Operators of other languages."""
_RUN = re.compile(r"[=<>!&|]+")
_QUOTES = frozenset("“”„‟«»‘’‚")  # noqa: RUF001 - the quotation marks of word processors
_NUMBER = re.compile(r"[0-9]+(?:,[0-9]+)+(?:\.[0-9]+)?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")


def extra_word(source: str, compiles: Callable[[str], bool]) -> ExpressionError | None:
    """Find the first word or sign that is no part of an expression.

    Args:
        source: The expression as written.
        compiles: Returns whether an expression is valid; others are not proposed.

    Returns:
        The error with what to write instead, or None.
    """
    marks = tokens(source)
    quote = next((mark for mark in marks if mark.text in _QUOTES), None)
    if quote is not None:
        message = f"'{quote.text}' is not a quotation mark of an expression"
        return error_at(source, quote.at, message, 'write `"` before and after text: `"text"`')
    if any(mark.kind == "mark" and mark.text in ("'", '"') for mark in marks):
        return None  # a text without its end: where words begin is not known
    for before, mark in pairwise(marks):
        if before.kind == "number" and mark.text == ",":
            number = _NUMBER.match(source, before.at)
            if number is not None:
                return error_at(
                    source, mark.at, "a comma is no part of a number", _comma(number[0])
                )
        if before.kind == "number" and mark.text in SIGNS and mark is marks[-1]:
            return _extra_word(source, before, mark, compiles)
        if before.kind == "mark" and before.text in SIGNS - {"%"} and mark.kind == "number":
            return _extra_word(source, mark, before, compiles)
        run = _RUN.match(source, mark.at) if mark.kind == "mark" else None
        if run is not None and run[0] in _MARKS and not _RUN.match(source, mark.at - 1):
            return error_at(
                source, mark.at, f"'{run[0]}' is no operator", f"write `{_MARKS[run[0]]}`"
            )
        value = before.kind in ("number", "string") or before.text in _CLOSING
        named = before.kind == "name" and before.text != "in"
        if (value or named) and mark.kind in ("name", "number", "string") and mark.text != "in":
            return _extra_word(source, before, mark, compiles)
    return None


def _comma(number: str) -> str:
    """Return the help for `1,000`, and for `0,5` with a decimal comma."""
    if _GROUPED.fullmatch(number) or number.count(",") > 1:
        return f"write `{number.replace(',', '')}` for `{number}`"
    return f"write `{number.replace(',', '.')}` for `{number}`"


def _extra_word(
    source: str, value: Token, word: Token, compiles: Callable[[str], bool]
) -> ExpressionError:
    """Return the error of an extra word, with what to write instead."""
    meant = next((w for w in (word, value) if w.text.lower() in _OPERATORS), None)
    unit = UNIT.match(source, word.at) if value.kind == "number" else None
    if meant is not None:
        word, help_ = meant, f"write `{_OPERATORS[meant.text.lower()]}`"
        message = f"'{meant.text}' is no operator"
    elif unit is not None:
        without = f"{source[: word.at].rstrip()} {source[unit.end() :].lstrip()}".strip()
        message = f"'{unit[0]}' beside {value.text} is no part of an expression"
        help_ = "units are not part of an expression: " + (
            f"write `{without}`" if compiles(without) else f"remove `{unit[0]}`"
        )
    else:
        message = f"'{word.text}' stands directly behind '{value.text}'"
        help_ = "write an operator between them: `==`, `>`, `&&`, `||`; text stands in quotes"
    return error_at(source, word.at, message, help_)


def error_at(source: str, at: int, message: str, help_: str) -> ExpressionError:
    """Build an error at an offset of an expression."""
    before = source[:at].split("\n")
    return ExpressionError(message, len(before[-1]) + 1, line=len(before), help=help_)
