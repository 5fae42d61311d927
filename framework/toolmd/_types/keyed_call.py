"""The record of a call under an idempotency key, which all processes of a project share."""

from typing import NamedTuple

from toolmd._types.brief import brief


class KeyedCall(NamedTuple):
    """A call that began under a key."""

    left: float
    """In how many seconds it has ended in any case; not positive for one that has."""
    result: str | None
    """Its result as JSON; None while it runs, and if its process died before the result."""

    def __repr__(self) -> str:
        return brief(self, "result")
