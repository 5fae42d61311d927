"""A pending call, as its caller sees it."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple


class PendingCall(NamedTuple):
    """A call of a reply that waits for a confirmation (seed 001, "Confirmation Request")."""

    id: str
    """The id to pass to `approve`, `reject` and `respond`; empty in a dry run."""
    kind: Literal["confirm", "review"]
    """`confirm` asks the user; `review` asks an operator of the system."""
    tool_call_id: str | None
    """The model's name for the call."""
    tool: str
    """The name of the tool."""
    parameters: dict[str, Any]
    """The arguments with defaults; in a dry run as the model wrote them."""
    prompt: str
    """The question for the person."""
    sensitivity: str
    """The tool's sensitivity."""
    saves: str | None = None
    """The name under which a run saves the person's answer; `respond` supplies it."""

    form: Mapping[str, Any] | None = None
    """The JSON Schema of what a server asks for during the call; `approve` supplies the values."""

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON without absent keys."""
        shown = self._asdict()
        return {k: v for k, v in shown.items() if v not in (None, "") or k == "prompt"}
