"""A call as the dispatcher receives it."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolmd._types.asked import Asked
from toolmd._types.visible import brief

Fact = str | int | float | bool | list[str]
"""The value of a fact about the caller; a text unless the settings declare another type."""
NO_CONTEXT: Mapping[str, Fact] = {}
"""The context of a caller without facts."""


def fact_name(text: str) -> str | None:
    """Return the name of a fact in snake case, such as `patient`; None for anything else.

    A header spells it `Patient-Id`, a file `patient-id`, Python `patient_id`.
    """
    name = text.strip().replace("-", "_").lower()
    return name if name.isascii() and name.isidentifier() else None


def run_of(host_name: str) -> str:
    """Return the id of the run that a host's call of a skill begins."""
    return f"run-{host_name[:24]}"


class Caller(NamedTuple):
    """The user, the host's facts and the user's message; the host sets them, never a model."""

    user: str | None = None
    """The signed-in user; None if nobody is signed in."""
    context: Mapping[str, Fact] = NO_CONTEXT
    """Facts by name, such as `{"patient": "P-1001", "tenant": "north"}`."""
    message: str = ""
    """The user's own words; the intent check searches them."""
    conversation: str | None = None
    """The host's name for the conversation. A Quota per conversation counts by it, or by user
    if the host names none."""
    crisis: bool = False
    """Whether the message, the reply or the conversation has the crisis flag."""
    earlier: tuple[str, ...] = ()
    """The user's messages of the conversation since the last executed call, before this one."""
    roles: tuple[str, ...] = ()
    """The user's roles, as the host's identity service states them."""
    via: str | None = None
    """Who acts for the user, such as a backend; None if she acts herself."""

    def __repr__(self) -> str:
        return brief(self, "message", "earlier")


NOBODY = Caller()


def host_name_of(call_id: str, caller: Caller) -> str:
    """Return one name for a call by its host's id, the user and the conversation."""
    whose = [call_id, caller.user, caller.conversation]
    return hashlib.sha256(repr(whose).encode(errors="replace")).hexdigest()[:32]


def key_of(call_id: str, name: str, caller: Caller) -> str:
    """Return the idempotency key of a call that its host named, before its arguments are added.

    Names in a model's reply make no keys.
    """
    whose = [call_id, caller.user, sorted(caller.context.items()), caller.conversation, name]
    return hashlib.sha256(repr(whose).encode(errors="replace")).hexdigest()[:32]


class Budget(NamedTuple):
    """What is left of a plan's limits for a call; the stricter of plan and tool applies."""

    rows: int
    """The maximum number of rows of a result."""
    bytes: int
    """The maximum size of a result as JSON."""
    timeout_ms: int
    """The time limit from the start of the call, including waits."""


class Call(NamedTuple):
    """A request to call one tool or skill with these arguments."""

    tool: str
    """The name of the tool or skill."""
    arguments: Mapping[str, Any] | str | bytes
    """An object, or its JSON text."""
    id: str | None = None
    """The caller's name for this call; the result repeats it."""
    confidence: float | None = None
    """The model's stated confidence, 0 to 1; None if it states none."""
    caller: Caller = NOBODY
    """The user, the facts and the message."""
    dry_run: bool = False
    """Whether all checks run but the tool does not."""
    budget: Budget | None = None
    """The budget of the plan that made this call (behaviour.md, "Running")."""
    key: str | None = None
    """The idempotency key that a runtime set (run and step); never set by a model."""
    depth: int = 0
    """The nesting depth: a tool may call tools."""
    reply: str | None = None
    """The runtime's name for the model's reply that made this call, if one did."""
    asked: Asked | None = None
    """What its server asked for during this call, and the person's answer."""
    given: Mapping[str, Any] = NO_CONTEXT
    """What its conditions read of other tools, by the names of Given; never stored."""
    counts: tuple[Any, ...] = ()
    """What guards count of it when it starts; never stored."""

    def __repr__(self) -> str:
        return brief(self, "arguments", "given", "counts")

    @property
    def is_named(self) -> bool:
        """Whether its host named this call, so that the same name again means the same call."""
        return self.id is not None and self.key is not None and self.id != self.key

    @property
    def host_name(self) -> str | None:
        """The name under which its questions are found; None for a call without an id of a host."""
        if self.id is None or self.is_of_a_run:
            return None
        return host_name_of(self.id, self.caller)

    @property
    def is_of_a_run(self) -> bool:
        """Whether a run makes this call as a step; the run then asks for its confirmation.

        A run uses the key as the id of its calls; a call made by a tool has no id.
        """
        return self.key is not None and self.id == self.key
