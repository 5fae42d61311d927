"""Fit a name to what a target allows."""

import hashlib
import re
from typing import NamedTuple


class NameRule(NamedTuple):
    """The characters that a target takes in a name, and how many of them."""

    refused: re.Pattern[str]
    """One character that may not stand in a name."""
    longest: int
    first: re.Pattern[str] = re.compile("")
    """What the beginning must match."""


FUNCTION = NameRule(re.compile(r"[^A-Za-z0-9_-]"), 64)
GEMINI = NameRule(re.compile(r"[^A-Za-z0-9_.:-]"), 64, re.compile(r"[A-Za-z_]"))
MCP = NameRule(re.compile(r"[^A-Za-z0-9_.-]"), 128)
ARGUMENT = NameRule(re.compile(r"[^A-Za-z0-9_.-]"), 64)
"""Anthropic refuses a whole request for one property whose name is not of this form."""


def fit(name: str, rule: NameRule) -> str:
    """Give the name, or the nearest that the rule allows; equal names stay equal.

    A changed name ends in six hex digits of the original's hash, so two names that differ
    only in what the target refuses do not become one.
    """
    fitted = rule.refused.sub("_", name)
    if not rule.first.match(fitted):
        fitted = f"_{fitted}"
    if fitted == name and len(name) <= rule.longest:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{fitted[: rule.longest - 7]}_{mark}"
