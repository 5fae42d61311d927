"""A call that waits for a person's decision."""

from typing import Any, Literal, NamedTuple

from toolmd._types.call import Call

ConfirmationState = Literal[
    "pending", "approved", "edited", "rejected", "responded", "stale", "expired"
]


class Confirmation(NamedTuple):
    """One held call, whole: what would run, for whom, and until when it may be approved."""

    id: str
    """What `approve`, `reject` and `respond` take."""
    kind: Literal["confirm", "review"]
    """Held for the user's own word, or for somebody who looks after the system."""
    call: Call
    """With its arguments as they were judged, defaults filled."""
    bound_to: str
    """Hex sha256 over spec, implementation, policy and arguments."""
    prompt: str
    """As it is kept: Sensitive values are hidden."""
    sensitivity: str
    """Of the tool: `low`, `medium`, `high` or `critical`."""
    created: float
    """Seconds since the epoch, as is `expires`."""
    expires: float | None
    """None for a run's question that waits for ever."""
    state: ConfirmationState = "pending"
    """Whether it waits, or what was decided."""
    shown: Any = None
    """The arguments with Sensitive values hidden."""
    notes: tuple[str, ...] = ()
    """What its result tells beside its own: what a person changed in it before."""
    saves: str | None = None
    """Under this name a run keeps the person's words; None where a yes or no is asked."""

    def to_dict(self) -> dict[str, Any]:
        """Give what a person needs to decide; the times are in seconds since the epoch."""
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
