"""Adapt a name to a target's rules."""

import hashlib
import re
from typing import NamedTuple


class NameRule(NamedTuple):
    """The characters that a target allows in a name, and the longest length."""

    forbidden: re.Pattern[str]
    """A character that is not allowed in a name."""
    longest: int
    first: re.Pattern[str] = re.compile("")
    """A pattern for the beginning."""


FUNCTION = NameRule(re.compile(r"[^A-Za-z0-9_-]"), 64)
GEMINI = NameRule(re.compile(r"[^A-Za-z0-9_.:-]"), 64, re.compile(r"[A-Za-z_]"))
MCP = NameRule(re.compile(r"[^A-Za-z0-9_.-]"), 128)
ARGUMENT = NameRule(re.compile(r"[^A-Za-z0-9_.-]"), 64)
"""Anthropic rejects a whole request for one property whose name is not of this form."""


def fit(name: str, rule: NameRule) -> str:
    """Return the name, or the nearest allowed one; equal names stay equal.

    A changed name ends in six hex digits of the original's hash, so two names that differ only in
    disallowed characters stay different.
    """
    fitted = rule.forbidden.sub("_", name)
    if not rule.first.match(fitted):
        fitted = f"_{fitted}"
    if fitted == name and len(name) <= rule.longest:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{fitted[: rule.longest - 7]}_{mark}"
