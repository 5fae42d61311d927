"""What a call is held to: the part of a definition that is not prose."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from toolmd._types.schema import Parameter, Schema
from toolmd._types.source import Source


@dataclass(frozen=True)
class Rule:
    """A condition over the arguments, and what to say when it does not hold."""

    expression: str
    """CEL over the parameters' names; must give a boolean."""
    message: str


@dataclass(frozen=True)
class Safety:
    """What must be true before a call runs; a field that was not written is None."""

    min_confidence: float | None = None
    on_missing_confidence: Literal["deny", "confirm"] | None = None
    """What becomes of a call that states none; the project's word where it is None."""
    requires_confirmation: bool | None = None
    confirm_when: str | None = None
    sensitivity: Literal["low", "medium", "high", "critical"] | None = None
    explicit_intent: bool | None = None
    intent_keywords: tuple[str, ...] = ()
    escalate_when: str | None = None


@dataclass(frozen=True)
class Rate:
    """At most `calls` starts in any window of `per_s` seconds."""

    calls: int
    per_s: float


@dataclass(frozen=True)
class Batch:
    """Split the array `parameter` into pieces of at most `size` items."""

    parameter: str
    size: int


@dataclass(frozen=True)
class Limits:
    """What a call may cost; durations in seconds, sizes in bytes."""

    timeout_s: float | None = None
    retries: int | None = None
    backoff_s: float | None = None
    rate: Rate | None = None
    max_rows: int | None = None
    max_bytes: int | None = None
    max_batch: Batch | None = None
    max_calls: int | None = None
    max_concurrent: int | None = None
    allowed_domains: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CallSpec:
    """What tools and skills alike are held to."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    """What a call may give, in the order of the file."""
    source: Source
    """Where it stands; not part of its meaning."""


@dataclass(frozen=True, kw_only=True)
class ToolCallSpec(CallSpec):
    """What a call of a tool is held to; a ToolSpec is one, and says what the file says whole.

    A call needs no more, and no pydantic, whose import takes longer than opening a thousand tools.
    """

    requires_auth: bool = False
    requires_context: tuple[str, ...] = ()
    """The facts about the caller that the host must supply, such as `patient`."""
    read_only: bool = False
    idempotent: Literal["yes", "no", "keyed"] = "no"
    unknown_parameters: Literal["reject", "ignore"] = "reject"
    returns: Schema
    """The shape of the result."""
    rules: tuple[Rule, ...] = ()
    """What must hold between the arguments."""
    safety: Safety = Safety()
    """What must be true before a call runs."""
    limits: Limits = Limits()
    """What a call may cost."""

    @property
    def is_repeatable(self) -> bool:
        """Whether a second run of one call does no harm."""
        return self.read_only or self.idempotent != "no"


def written(part: Safety | Limits) -> dict[str, Any]:
    """Give the fields of a part that were written, as JSON; seconds and shares as floats."""
    return {
        name: _as_json(name, value)
        for name, value in asdict(part).items()
        if value not in (None, ())
    }


_FLOATS = {
    field.name
    for part in (Safety, Limits, Rate)
    for field in fields(part)
    if float in (field.type, *get_args(field.type))
}
"""What is written as a float, whole or not: a spec made in Python may say 60 for 60.0."""


def _as_json(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(key, inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return float(value) if name in _FLOATS else value
