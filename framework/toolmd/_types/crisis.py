"""The crisis flag of a conversation, which stays until an operator clears it."""

from typing import Any, NamedTuple


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
