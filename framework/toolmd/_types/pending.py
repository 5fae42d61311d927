"""A call that waits for a person, as its caller sees it."""

from typing import Any, Literal, NamedTuple


class PendingCall(NamedTuple):
    """A call of the reply that waits for a person (seed 001, "Confirmation Request")."""

    id: str
    """The id for `approve`, `reject` and `respond`; empty in a dry run, which stores nothing."""
    kind: Literal["confirm", "review"]
    """`confirm` for the user's own decision, `review` for an operator's."""
    tool_call_id: str | None
    """The model's name for the call."""
    tool: str
    """The name of the tool."""
    parameters: dict[str, Any]
    """The arguments with defaults filled; in a dry run as the model wrote them."""
    prompt: str
    """The question to the person."""
    sensitivity: str
    """The tool's sensitivity."""
    saves: str | None = None
    """The name under which a run saves the person's words; `respond` supplies them."""

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON; what is absent is left out."""
        shown = self._asdict()
        return {k: v for k, v in shown.items() if v not in (None, "") or k == "prompt"}
