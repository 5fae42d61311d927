"""A pending call: it waits for a person's decision."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from toolmd._types.call import Call
from toolmd._types.pending import PendingCall

ConfirmationState = Literal[
    "pending", "running", "interrupted", "approved", "edited", "rejected", "answered", "stale",
    "expired", "superseded",
]  # fmt: skip
"""`running`: approved, and its call has no result yet. `interrupted`: its process must have died
before the result, so a person decides again."""
EXPIRES_S = 600.0
"""How long a pending call may be approved, in seconds."""
UNDECIDED = frozenset({"pending", "interrupted"})
"""The states in which a person may decide."""


class Confirmation(NamedTuple):
    """A confirmation: the pending call, its caller, and when the confirmation expires."""

    id: str
    """The id to pass to `approve`, `reject` and `respond`."""
    kind: Literal["confirm", "review"]
    """`confirm` asks the user; `review` asks an operator of the system."""
    call: Call
    """The call with its validated arguments, including defaults."""
    bound_to: str
    """Hex sha256 over spec, implementation, policy and arguments."""
    prompt: str
    """The question for the person; Sensitive values are hidden."""
    sensitivity: str
    """The tool's sensitivity: `low`, `medium`, `high` or `critical`."""
    created: float
    """In seconds since the epoch, like `expires`."""
    expires: float | None
    """None for a run's question that never expires."""
    state: ConfirmationState = "pending"
    """The state: undecided, running, decided, stale, expired, or superseded by a correction."""
    shown: Any = None
    """The arguments with Sensitive values hidden."""
    notes: tuple[str, ...] = ()
    """Notes added to the result, such as the arguments that a person edited."""
    saves: str | None = None
    """The name under which a run saves the person's answer; None for a yes-or-no question."""
    words: str = ""
    """The part of the prompt with the user's words; it goes with the decision."""

    @property
    def form(self) -> Mapping[str, Any] | None:
        """The JSON Schema of what a server asks for; None for a call that waits for a yes."""
        return None if self.call.asked is None else self.call.asked.form

    def as_pending(self, tool_call_id: str | None) -> PendingCall:
        """Return what the caller of a model's call, or of a run, sees of it.

        Args:
            tool_call_id: The model's name for that call.
        """
        return PendingCall(self.id, self.kind, tool_call_id, self.call.tool, dict(self.shown or {}),
                           self.prompt, self.sensitivity, self.saves, self.form)  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON that a person needs to decide; times are in seconds since the epoch."""
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
        more = {"saves": self.saves, "form": self.form}
        return shown | {key: value for key, value in more.items() if value is not None}


class Decided(NamedTuple):
    """A person's decision on a pending call, as the audit names it."""

    confirmation: str
    """The id of the call."""
    by: str | None = None
    """The person's name; None for an operator of the host without a name."""
