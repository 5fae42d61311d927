"""A call that waits for a person's decision."""

from typing import Any, Literal, NamedTuple

from toolmd._types.call import Call

ConfirmationState = Literal[
    "pending", "approved", "edited", "rejected", "responded", "stale", "expired"
]


class Confirmation(NamedTuple):
    """A call that waits for a person: what would run, for whom, and until when."""

    id: str
    """The id for `approve`, `reject` and `respond`."""
    kind: Literal["confirm", "review"]
    """`confirm` for the user's own decision, `review` for an operator's."""
    call: Call
    """The call with its validated arguments, defaults filled."""
    bound_to: str
    """Hex sha256 over spec, implementation, policy and arguments."""
    prompt: str
    """The question, with Sensitive values hidden."""
    sensitivity: str
    """The tool's sensitivity: `low`, `medium`, `high` or `critical`."""
    created: float
    """Seconds since the epoch, as is `expires`."""
    expires: float | None
    """Seconds since the epoch; None for a run's question without a timeout."""
    state: ConfirmationState = "pending"
    """`pending`, or the decision."""
    shown: Any = None
    """The arguments with Sensitive values hidden."""
    notes: tuple[str, ...] = ()
    """Notes for its result: what a person changed in it before."""
    saves: str | None = None
    """The name under which a run saves the person's words; None for a yes-or-no question."""

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON for a person's decision; times are in seconds since the epoch."""
        shown = {
            "id": self.id,
            "kind": self.kind,
            "tool_call_id": self.call.id,
            "tool": self.call.tool,
            "parameters": self.shown,
            "user": self.call.caller.user,
            "prompt": self.prompt,
            "sensitivity": self.sensitivity,
            "created": self.created,
            "expires": self.expires,
            "state": self.state,
        }
        return shown if self.saves is None else {**shown, "saves": self.saves}
