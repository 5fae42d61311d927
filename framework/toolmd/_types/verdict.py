"""The verdict of a guard on a call; the strictest verdict wins."""

from enum import IntEnum
from typing import NamedTuple


class Action(IntEnum):
    """The action of a verdict, from mild to strict; the strictest one wins."""

    ALLOW = 0
    CONFIRM = 1
    REVIEW = 2
    DENY = 3


class Problem(NamedTuple):
    """One problem with the arguments, for the model to act on."""

    code: str
    """Stable, such as `wrong_type`."""
    path: str
    """Dotted, such as `items[0].name`; empty for the whole."""
    message: str
    """The problem in one sentence."""
    expected: str = ""
    """The expected value."""
    got: str = ""
    """The received value as JSON, shortened."""


class QuotaUse(NamedTuple):
    """A quota that has too little left for a call."""

    limit: int | float
    used: int | float
    needs: int | float
    per: str
    """The quota as the file has it."""
    resets_at: str | None
    """When it has enough again, ISO 8601; None for one that never does."""


class Verdict(NamedTuple):
    """A guard's decision on a call, and its reason."""

    action: Action
    """Allow, confirm, review or deny."""
    code: str = ""
    """A snake_case word that the guard chooses; a denial without one gets `denied`."""
    message: str = ""
    """The reason, for the model to act on."""
    details: tuple[Problem, ...] = ()
    """Each problem with the arguments."""
    retry_after_ms: int | None = None
    """The time after which a retry may succeed."""


ALLOWED = Verdict(Action.ALLOW)

DENIALS = frozenset(
    (
        "malformed_call",
        "invalid_arguments",
        "auth_required",
        "context_required",
        "not_allowed",
        "rule_unavailable",
        "low_confidence",
        "missing_confidence",
        "no_explicit_intent",
        "not_stated_by_user",
        "rate_limited",
        "budget_exhausted",
        "quota_exceeded",
        "domain_not_approved",
        "internal_guard_error",
    )
)
"""The codes of denials (behaviour.md)."""
