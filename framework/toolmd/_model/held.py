"""A call that waits for a person's decision."""

from typing import Any, Literal, NamedTuple

from toolmd._model.call import Call

HeldState = Literal["pending", "approved", "edited", "rejected", "responded", "stale", "expired"]


class HeldCall(NamedTuple):
    """One held call, whole: what would run, for whom, and until when it may be approved."""

    id: str
    kind: Literal["confirm", "review"]
    """Held for the user's own word, or for somebody who looks after the system."""
    call: Call
    """With its arguments as they were judged, defaults filled."""
    bound_to: str
    """Hex sha256 over spec, implementation, policy and arguments."""
    prompt: str
    """As it is kept: Sensitive values are hidden."""
    sensitivity: str
    created: float
    """Seconds since the epoch, as is `expires`."""
    expires: float | None
    """None for a run's question that waits for ever."""
    state: HeldState = "pending"
    shown: Any = None
    """The arguments with Sensitive values hidden."""
    notes: tuple[str, ...] = ()
    """What its result tells beside its own: what a person changed in it before."""

    def to_dict(self) -> dict[str, Any]:
        """Give what a person needs to decide; the times are in seconds since the epoch."""
        return {
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
