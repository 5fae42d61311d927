"""A confirmation: a call that waits for a person, from the check that asks to the decision."""

from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from toolmd._types.approval import Approved, OpenApproval, count_covered
from toolmd._types.call import Call
from toolmd._types.quota import FAR
from toolmd._types.visible import brief

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
_PLAIN = "confirmation_required"
WAITING = frozenset(
    (_PLAIN, "approval_required", "review_required", "input_required",
     "confirmation_stale")
)  # fmt: skip
"""The codes of a call that waits for a person (failures.md)."""
By = Mapping[str, str | None]
"""A person's decision: the id of the `confirmation`, and `by`, the person's name if it is known."""
NO_CALL = Call("", {})
NOTHING: Mapping[str, Any] = {}


class Confirmation(NamedTuple):
    """A call that waits for a person's decision, or the question of a run."""

    id: str
    """The id to pass to `approve`, `reject` and `respond`; empty in a dry run."""
    prompt: str
    """The question; only the caller and those who may approve the call see Sensitive values."""
    sensitivity: str = "low"
    """The tool's sensitivity: `low`, `medium`, `high` or `critical`."""
    kind: Literal["confirm", "review"] = "confirm"
    """`confirm` asks the user; `review` asks an operator of the system."""
    call: Call = NO_CALL
    """The call with its validated arguments, including defaults."""
    shown: Mapping[str, Any] = NOTHING
    """The arguments as this person may see them."""
    created: float = 0.0
    """In seconds since the epoch, like `expires`; 0 in a dry run."""
    expires: float | None = None
    """None for a run's question that never expires; a crisis review has a time far off."""
    state: ConfirmationState = "pending"
    """The state: undecided, running, decided, stale, expired, or superseded by a correction."""
    code: str = ""
    """The code of the check that asks, such as `confirmation_required`."""
    reason: str = ""
    """Why a person must decide."""
    bound_to: str = ""
    """Hex sha256 over spec, implementation, policy and arguments."""
    notes: tuple[str, ...] = ()
    """Notes added to the result, such as the arguments that a person edited."""
    replaces: tuple[str, ...] = ()
    """The ids of earlier pending calls that this one corrects; they can't be decided any more."""
    saves: str | None = None
    """The name under which a run saves the person's answer; None for a yes-or-no question."""
    words: str = ""
    """The part of the prompt with the user's words; it goes with the decision."""
    approvals: tuple[OpenApproval, ...] = ()
    """The approvals of other people that the call needs, after the caller's own yes if `kind` is
    `confirm`."""
    approved: tuple[Approved, ...] = ()
    """The approvals that were given."""
    proposed_by: tuple[str, ...] = ()
    """Who edited the arguments, and therefore does not approve them."""
    plain: str = ""
    """The question with Sensitive values, as `opened` shows it; empty where it has none."""
    hidden: str = ""
    """The question without Sensitive values, where `prompt` has some."""

    def __repr__(self) -> str:
        return brief(self, "prompt", "shown", "words", "plain")

    @property
    def tool(self) -> str:
        """The name of the tool."""
        return self.call.tool

    @property
    def tool_call_id(self) -> str | None:
        """The model's name for the call."""
        return self.call.id

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments with defaults, as this person may see them."""
        return dict(self.shown)

    def opened(self) -> "Confirmation":
        """Return the confirmation for its caller or an approver, with the Sensitive values."""
        if not self.plain or not isinstance(self.call.arguments, Mapping):
            return self
        return self._replace(
            prompt=self.plain, plain="", hidden=self.prompt, shown=self.call.arguments
        )

    def opened_for(self, user: str | None, roles: Collection[str], now: float) -> "Confirmation":
        """Return the confirmation as a person may see it.

        Args:
            user: The person; None for an operator, who sees no Sensitive values.
            roles: The roles of the person.
            now: The time, in seconds since the epoch.
        """
        is_own = user is not None and user == self.call.caller.user
        return self.opened() if is_own or (user and self.may_interest(roles, now)) else self

    @property
    def prompt_for_model(self) -> str:
        """The question without Sensitive values: a model may not know the value of a handle."""
        return self.hidden or self.prompt

    def is_approved(self) -> bool:
        """Return whether all approvals that the call needs are given, each by another person."""
        numbers = tuple(one.number for one in self.approvals)
        return count_covered(numbers, self.approved) == len(numbers)

    def may_interest(self, roles: Collection[str], now: float) -> bool:
        """Return whether a person may give one of its approvals by now.

        Args:
            roles: The roles of the person.
            now: The time, in seconds since the epoch.
        """
        return self.kind == "review" and any(
            not set(one.roles(now)).isdisjoint(roles) for one in self.approvals
        )

    @property
    def form(self) -> Mapping[str, Any] | None:
        """The JSON Schema of what a server asks for; None for a call that waits for a yes."""
        return None if self.call.asked is None else self.call.asked.form

    @property
    def waits_as(self) -> str:
        """The code of its state, by which programs branch; `code` may be a guard's own."""
        if self.code in WAITING:
            return self.code
        if self.kind == "review":
            return "approval_required" if self.approvals else "review_required"
        return _PLAIN

    @property
    def _code(self) -> str:
        """The code, where it says more than that the caller must confirm the call."""
        return "" if self.waits_as == _PLAIN else self.waits_as

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON that a person needs to decide, without absent keys.

        Times are in seconds since the epoch.
        """
        shown = {
            "id": self.id,
            "kind": self.kind,
            "tool_call_id": self.tool_call_id,
            "tool": self.tool,
            "parameters": self.parameters,
            "user": self.call.caller.user,
            "prompt": self.prompt,
            "sensitivity": self.sensitivity,
            "created": self.created or None,
            "expires": None if self.expires is None or self.expires >= FAR else self.expires,
            "state": self.state,
            "code": self._code,
            "saves": self.saves,
            "form": self.form,
            "reason": self.reason if self.approvals else None,
            "approvals": self._approvals(),
        }
        return {k: v for k, v in shown.items() if v not in (None, "", []) or k == "prompt"}

    def _approvals(self) -> list[dict[str, Any]]:
        """Return the approvals as JSON: the reason, who may give it, and who gave one."""
        shown = []
        for one in self.approvals:
            by = one.by if isinstance(one.by, str) else list(one.by)
            given = [each.user for each in self.approved if one.number in each.counts_for]
            approval = {"reason": one.reason, "by": by, "text": one.text, "approved_by": given}
            shown.append({name: value for name, value in approval.items() if value})
        return shown

    def to_request(self) -> dict[str, Any]:
        """Return the JSON of a result that waits for this confirmation, without absent keys."""
        names = ("id", "prompt", "sensitivity", "replaces", "form")
        asked = {name: value for name in names if (value := getattr(self, name))}
        if self._code:
            asked["code"] = self._code
        if self.approvals:
            asked |= {"approvals": self._approvals(), "expires": self.expires}
        return asked
