"""A result that is kept under a handle, so that a model reads it in pages."""

from typing import NamedTuple

from toolmd._types.brief import brief

MAX_KEPT = 64 << 20
"""The bytes of the largest result that is kept."""
KEEP_S = 24 * 3600.0
"""How long a result is kept, in seconds."""


class KeptResult(NamedTuple):
    """The whole value of a result; it never changes."""

    handle: str
    """`r-` and a random part."""
    user: str | None
    """The only user who may read it; None if nobody was signed in."""
    tool: str
    """The tool that returned it."""
    data: bytes
    """The value as JSON."""
    until: float
    """The time at which it is deleted, in seconds since the epoch."""

    def __repr__(self) -> str:
        return brief(self, "data")


def no_result(handle: str) -> str:
    """Return the message for a handle that is unknown, too old, or another user's."""
    return (
        f"No result is kept under handle {handle[:64]!r}: results are kept for 24 hours, and only"
        " for the user whose call returned them."
    )
