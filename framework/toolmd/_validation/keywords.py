"""The keywords that a function of their own checks; pydantic-core checks bounds and flags."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from toolmd._types.schema import KEYWORDS, JsonType, Schema
from toolmd._validation.formats import FORMATS
from toolmd._validation.patterns import whole_match


class Check(NamedTuple):
    """The check of one keyword."""

    code: str
    """The code of the problem."""
    test: Callable[[Any], Callable[[Any], object] | None]
    """Returns the test of values, or None where nothing is tested; raises PatternError."""
    wanted: Callable[[Any], str]
    """Describes the values that pass."""


CHECKS: Mapping[str, Check] = {
    "pattern": Check("pattern_mismatch", whole_match, "text that matches {} as a whole".format),
    "format": Check(
        "invalid_format",
        lambda name: FORMATS[name][0] if name in FORMATS else None,
        lambda name: FORMATS[name][1],
    ),
}


def checks_of(shape: Schema, kind: JsonType) -> Iterator[tuple[Check, Any]]:
    """Yield the checks of values of a type, each with its keyword's value."""
    for name, check in CHECKS.items():
        if (value := getattr(shape, name)) is not None and kind in KEYWORDS[name].fits:
            yield check, value
