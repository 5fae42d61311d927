"""Patterns: RE2, matched against a whole text in linear time."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any


class PatternError(ValueError):
    """The Pattern is not an RE2 expression."""


@lru_cache(maxsize=1024)
def whole_match(pattern: str) -> Callable[[str], Any]:
    """Return a function that matches a whole text. Raises PatternError."""
    # Imported here: most tools have no pattern.
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(pattern, options).fullmatch  # type: ignore[no-any-return]
    except (re2.error, UnicodeEncodeError) as error:
        message = f"the pattern {pattern!r} is no RE2 expression: {_reason(error)}"
        raise PatternError(message) from None


def pattern_fault(pattern: str) -> str | None:
    """Return the error of a pattern; None where it can be used."""
    try:
        whole_match(pattern)
    except PatternError as error:
        return str(error)
    return None


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else error
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
