"""A call as it enters the dispatcher, from any interface."""

from collections.abc import Mapping
from typing import Any, NamedTuple

NO_CONTEXT: Mapping[str, str] = {}
"""The context of a caller without facts."""


def fact_name(text: str) -> str | None:
    """Return the name of a fact in snake case, such as `patient`; None for anything else.

    A header spells it `Patient-Id`, a file `patient-id`, Python `patient_id`.
    """
    name = text.strip().replace("-", "_").lower()
    return name if name.isascii() and name.isidentifier() else None


class Caller(NamedTuple):
    """The user, the host's facts and the user's words; the host supplies them, never a model."""

    user: str | None = None
    """The signed-in user; None without one."""
    context: Mapping[str, str] = NO_CONTEXT
    """Facts by name, such as `{"patient": "P-1001", "tenant": "north"}`."""
    message: str = ""
    """The user's own words, which are searched for intent."""
    conversation: str | None = None
    """The host's name for the conversation. Max Calls counts its calls together; without a name it
    counts the user's calls together."""


NOBODY = Caller()


class Budget(NamedTuple):
    """A plan's budget for each of its calls; the stricter of it and the tool's limits applies."""

    rows: int
    """The most rows of a result."""
    bytes: int
    """The most bytes of a result, as JSON."""
    timeout_ms: int
    """The time from the call on in milliseconds, waiting included."""


class Call(NamedTuple):
    """A call of a tool or skill with its arguments."""

    tool: str
    """The name of the tool or skill."""
    arguments: Mapping[str, Any] | str | bytes
    """An object, or its JSON text."""
    id: str | None = None
    """The caller's name for this call; the result has it too."""
    confidence: float | None = None
    """The confidence that the model states, 0 to 1; None where it states none."""
    caller: Caller = NOBODY
    """The user, the host's facts and the user's words."""
    dry_run: bool = False
    """Whether all checks run, and the tool does not."""
    budget: Budget | None = None
    """The plan's budget, where the call is part of a plan (behaviour.md, "Running")."""
    key: str | None = None
    """The idempotency key of a runtime (run and step); never of a model."""
    depth: int = 0
    """How deep the call is nested: a tool may call tools."""

    @property
    def is_of_a_run(self) -> bool:
        """Whether a run makes the call as its step: the run then asks for the confirmation.

        A run names its calls by their key; a call that a tool makes has no name.
        """
        return self.key is not None and self.id == self.key
