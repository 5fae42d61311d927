"""The keywords that a function of their own checks: patterns, formats, and equal values."""

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from toolmd._types.field import JsonType
from toolmd._types.schema import KEYWORDS, Schema

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = re.compile(rf"{_CLOCK}(?::[0-5][0-9](?:\.[0-9]{{1,9}})?)?(?:[Zz]|[+-]{_CLOCK})?")
MAX_ADDRESS, MAX_LOCAL = 254, 64
"""Characters of a mail address, and of its part before the `@` (RFC 5321)."""

_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_EMAIL = re.compile(
    rf"[\w!#$%&'*+/=?^`{{|}}~-]+(?:\.[\w!#$%&'*+/=?^`{{|}}~-]+)*@{_LABEL}(?:\.{_LABEL})+"
)
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+"
)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def is_date(text: str) -> bool:
    """Return whether this is a day of the calendar, `2026-03-05`."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """Return whether this is a day and a time, `2026-03-05T09:30`, as ISO 8601 has them."""
    return text[10:11] in ("T", "t") and is_date(text[:10]) and bool(_TIME.fullmatch(text[11:]))


def is_email(text: str) -> bool:
    """Return whether mail could be sent there: one `@`, and a domain with a dot."""
    return (
        len(text) <= MAX_ADDRESS
        and text.find("@") <= MAX_LOCAL
        and _EMAIL.fullmatch(text) is not None
    )


def is_uri(text: str) -> bool:
    """Return whether this is an absolute URI; one with `//` over HTTP must name a host."""
    if not _URI.fullmatch(text):
        return False
    scheme, _, rest = text.partition(":")
    if scheme.lower() not in ("http", "https"):
        return True
    return rest.startswith("//") and rest[2:3] not in ("", "/", "?", "#", ":", "@")


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


def identity(value: Any) -> Hashable:
    """Return a key that two JSON values share exactly when JSON Schema calls them equal."""
    kind = type(value)
    if kind is bool:
        return ("boolean", value)
    if kind is list:
        return ("array", tuple(identity(item) for item in value))
    if kind is dict:
        return ("object", frozenset((name, identity(item)) for name, item in value.items()))
    return value  # type: ignore[no-any-return]  # text, numbers and null are their own keys


FORMATS: Mapping[str, tuple[Callable[[str], object], str, str]] = {
    "date": (is_date, "a real date", "2026-03-05"),
    "time": (_TIME.fullmatch, "a time of day", "09:30"),
    "date-time": (is_date_time, "a date and time", "2026-03-05T09:30:00Z"),
    "email": (is_email, "an e-mail address", "name@example.org"),
    "uri": (is_uri, "an absolute URI", "https://example.org/page"),
    "uuid": (_UUID.fullmatch, "a UUID", "123e4567-e89b-12d3-a456-426614174000"),
}
"""The formats that are enforced, each with its words and a sample; any other is an annotation."""


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
        lambda name: "{1} such as {2}".format(*FORMATS[name]),
    ),
}


def checks_of(shape: Schema, kind: JsonType) -> Iterator[tuple[Check, Any]]:
    """Yield the checks of values of a type, each with its keyword's value."""
    for name, check in CHECKS.items():
        if (value := getattr(shape, name)) is not None and kind in KEYWORDS[name].fits:
            if name == "pattern" and shape.example is not None:
                # A person and a model read an example more easily than an expression.
                yield check._replace(wanted=lambda _: f"text such as {shape.example}"), value
            else:
                yield check, value
