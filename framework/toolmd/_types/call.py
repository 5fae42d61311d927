"""A call as it comes to the one door, whoever makes it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

NO_CONTEXT: Mapping[str, str] = {}
"""The context of a caller about whom the host states no facts."""


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
    """The user's own words, in which intent is looked for."""
    conversation: str | None = None
    """The host's name for the conversation, whose calls Max Calls counts together; where the host
    names none, a user's calls count together."""


NOBODY = Caller()


class Budget(NamedTuple):
    """What a plan allows each of its calls; the stricter of it and the tool's own limits holds."""

    rows: int
    """The most rows of a result."""
    bytes: int
    """The most bytes of a result, as JSON."""
    timeout_ms: int
    """The time from the call on, waiting included."""


class Call(NamedTuple):
    """One tool or skill to be called with these arguments."""

    tool: str
    """Its name."""
    arguments: Mapping[str, Any] | str | bytes
    """An object, or its JSON text."""
    id: str | None = None
    """The caller's name for this call; comes back with the result."""
    confidence: float | None = None
    """How sure the model says it is, 0 to 1; None where it says nothing."""
    caller: Caller = NOBODY
    """Who asks, in what words."""
    dry_run: bool = False
    """Whether everything is checked and judged, and nothing runs."""
    budget: Budget | None = None
    """The plan's, where the call came in one (behaviour.md, "Running")."""
    key: str | None = None
    """The idempotency key where a runtime made one (run and step); never a model's."""
    depth: int = 0
    """How many calls stand around this one: a tool may call tools."""

    @property
    def is_of_a_run(self) -> bool:
        """Whether a run makes it as its step: the run then asks for the yes to it, and redeems it.

        A run names its calls by their key; a call that a tool makes has no name.
        """
        return self.key is not None and self.id == self.key
