"""The record of a call under an idempotency key, which all processes of a project share."""

from typing import NamedTuple


class KeyedCall(NamedTuple):
    """A call that began under a key."""

    until: float
    """The time when it has ended in any case, in seconds since the epoch."""
    result: str | None
    """Its result as JSON; None while it runs, and if its process died before the result."""
