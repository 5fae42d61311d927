"""What a judge says of a call; the strictest verdict wins."""

from enum import IntEnum
from typing import NamedTuple


class Ruling(IntEnum):
    """From mild to strict; a higher one wins."""

    ALLOW = 0
    CONFIRM = 1
    REVIEW = 2
    DENY = 3


class Problem(NamedTuple):
    """One thing wrong with the arguments, in words that a model can act on."""

    code: str
    path: str
    """Dotted, `items[0].name`; empty for the whole."""
    message: str
    expected: str = ""
    got: str = ""


class Verdict(NamedTuple):
    """A ruling and its reason."""

    ruling: Ruling
    code: str = ""
    message: str = ""
    details: tuple[Problem, ...] = ()
    retry_after_ms: int | None = None


ALLOWED = Verdict(Ruling.ALLOW)

REFUSALS = frozenset(
    (
        "malformed_call",
        "invalid_arguments",
        "auth_required",
        "patient_context_required",
        "low_confidence",
        "missing_confidence",
        "no_explicit_intent",
        "not_stated_by_user",
        "rate_limited",
        "budget_exhausted",
        "domain_not_approved",
        "internal_guard_error",
    )
)
"""What a call is denied with (behaviour.md, "The ladder")."""
