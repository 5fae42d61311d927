"""The records of a store: kept results, calls under a key, the audit's chain, crisis flags."""

from typing import Any, NamedTuple

from toolmd._types.visible import brief

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


class KeyedCall(NamedTuple):
    """A call that began under a key."""

    left: float
    """In how many seconds it has ended in any case; not positive for one that has."""
    result: str | None
    """Its result as JSON; None while it runs, and if its process died before the result."""

    def __repr__(self) -> str:
        return brief(self, "result")


class ChainLine(NamedTuple):
    """The number of a line of an audit file, and its hash, which includes the hash before it."""

    number: int
    """The number of the record; the file's first line, which is none, has 0."""
    hash: str
    """Hexadecimal SHA-256."""


class Crisis(NamedTuple):
    """A conversation with a crisis flag."""

    conversation: str
    """The host's name for it."""
    user: str | None
    """The signed-in user; None if nobody was signed in."""
    since: float
    """When it was heard last, in seconds since the epoch."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON, with the time in seconds since the epoch."""
        return self._asdict()
