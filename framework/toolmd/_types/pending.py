"""A call that waits for a person, as its caller is told of it."""

from typing import Any, Literal, NamedTuple


class PendingCall(NamedTuple):
    """A call of the reply that waits for a person (seed 001, "Confirmation Request")."""

    id: str
    """What `approve`, `reject` and `respond` take; empty in a dry run, which holds nothing."""
    kind: Literal["confirm", "review"]
    """Held for the user's own word, or for somebody who looks after the system."""
    tool_call_id: str | None
    """The model's name for the call."""
    tool: str
    """Whose call it is."""
    parameters: dict[str, Any]
    """What would run, defaults filled; in a dry run what the model wrote."""
    prompt: str
    """What a person is asked."""
    sensitivity: str
    """Of the tool."""
    saves: str | None = None
    """Under this name a skill's run keeps the person's words; `respond` gives them."""

    def to_dict(self) -> dict[str, Any]:
        """Give its JSON; what is absent is left out."""
        shown = self._asdict()
        return {k: v for k, v in shown.items() if v not in (None, "") or k == "prompt"}
