"""The forms of a JSON number: find what fails for one of them, and make them equal."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from toolmd._expressions.error import ExpressionError
from toolmd._expressions.messages import ERROR, OVERLOAD, overload_mismatch
from toolmd._expressions.rewrite import Rewritten

_SIGNS = frozenset("+-*/%([")
_EITHER = frozenset("_==_ _!=_ _<_ _<=_ _>_ _>=_ @in _?_:_".split())
"""What takes numbers of both forms at once."""
_NUMBER = re.compile(r"\b(?:int|double)\b")
_LISTS = ("list(", "map(")
"""Lists may mix both forms when the expression runs."""


def may_mix(source: str, numbers: int) -> bool:
    """Return whether an expression calculates in a scope with this many numbers."""
    return numbers > 0 and not _SIGNS.isdisjoint(source)


def forms(numbers: int) -> Iterator[Callable[[int], bool]]:
    """Yield functions of a number's place, so that each two places differ in one of them.

    Each returns whether the number there is tried as a whole one.
    """
    yield lambda _: True
    yield lambda _: False
    for bit in range((numbers - 1).bit_length()):
        yield lambda place, bit=bit: bool(place >> bit & 1)  # type: ignore[misc]


def form_error(report: str, rewritten: Rewritten) -> ExpressionError | None:
    """Return the error of the compiler's report if it is about whole and other numbers."""
    for error in sorted(ERROR.finditer(report), key=lambda e: (int(e[1]), int(e[2]))):
        found = OVERLOAD.search(error[3])
        if found is None or found[1] in _EITHER or any(kind in found[0] for kind in _LISTS):
            continue
        if _NUMBER.search(found[2] or ""):
            line, column = rewritten.place(int(error[1]), int(error[2]))
            message = f"{overload_mismatch(found)}: a number may be whole or not, 20 or 20.5"
            return ExpressionError(message, column, line=line, help=_HELP)
    return None


_HELP = (
    "write `double(…)` around each number, and a point in those that are written out, as "
    "`double(price) * 2.0`; or `int(…)` where it must be whole"
)


UNSORTED = "list elements must have the same type"
"""What CEL reports of a list with whole and other numbers, which it can't sort."""
_EXACT = 2**53
"""Whole numbers up to this one are equal in both forms."""


def as_doubles(value: Any) -> Any:
    """Return a JSON value with each whole number as a double; raises ValueError beyond 2**53."""
    match value:
        case bool():
            return value
        case int() if abs(value) > _EXACT:
            raise ValueError
        case int():
            return float(value)
        case list():
            return [as_doubles(one) for one in value]
        case dict():
            return {key: as_doubles(one) for key, one in value.items()}
    return value


def as_whole(value: Any) -> Any:
    """Return a JSON value with each double without a fraction as a whole number."""
    match value:
        case float() if value.is_integer() and abs(value) <= _EXACT:
            return int(value)
        case list():
            return [as_whole(one) for one in value]
        case dict():
            return {key: as_whole(one) for key, one in value.items()}
    return value
