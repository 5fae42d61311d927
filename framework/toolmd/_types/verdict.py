"""The verdict of a guard on a call; the strictest one wins."""

from enum import IntEnum
from typing import NamedTuple


class Action(IntEnum):
    """The actions from mild to strict; a higher one wins."""

    ALLOW = 0
    CONFIRM = 1
    REVIEW = 2
    DENY = 3


class Problem(NamedTuple):
    """One thing wrong with the arguments, in words that a model can act on."""

    code: str
    """Stable, such as `wrong_type`."""
    path: str
    """Dotted, `items[0].name`; empty for the whole."""
    message: str
    """All of it in a sentence."""
    expected: str = ""
    """What would be right."""
    got: str = ""
    """What was given, as JSON, shortened."""


class Verdict(NamedTuple):
    """An action and its reason."""

    action: Action
    """What happens to the call."""
    code: str = ""
    """The guard's own code, in snake_case; a denial without one has `denied`."""
    message: str = ""
    """The reason, in words that a model can act on."""
    details: tuple[Problem, ...] = ()
    """Each thing that is wrong with the arguments, where it is that."""
    retry_after_ms: int | None = None
    """When asking again may help."""


ALLOWED = Verdict(Action.ALLOW)

DENIALS = frozenset(
    (
        "malformed_call",
        "invalid_arguments",
        "auth_required",
        "context_required",
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
"""The codes of denials (behaviour.md, "Checks")."""
