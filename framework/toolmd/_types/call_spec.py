"""The part of a definition that a call is checked against; it has no prose."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from toolmd._types.schema import Parameter, Schema
from toolmd._types.source import Source

DEFAULT_TIMEOUT_S = 30.0
"""The deadline in seconds of a tool whose Limits name none."""


@dataclass(frozen=True)
class Rule:
    """A condition over the arguments, and the message for when it is false."""

    expression: str
    """A CEL expression over the parameters' names; it must return a boolean."""
    message: str


@dataclass(frozen=True)
class Safety:
    """The conditions that a call must meet before it runs; an absent field is None."""

    min_confidence: float | None = None
    on_missing_confidence: Literal["deny", "confirm"] | None = None
    """The action for a call without a confidence; None uses the project's setting."""
    requires_confirmation: bool | None = None
    confirm_when: str | None = None
    sensitivity: Literal["low", "medium", "high", "critical"] | None = None
    explicit_intent: bool | None = None
    intent_keywords: tuple[str, ...] = ()
    escalate_when: str | None = None


@dataclass(frozen=True)
class Rate:
    """A rate limit: at most `calls` calls start in any window of `per_s` seconds."""

    calls: int
    per_s: float

    def __str__(self) -> str:
        """Return the rate as a file has it: `3/s`, `100/min`, `3 per 90s`."""
        unit = {1: "s", 60: "min", 3600: "h"}.get(self.per_s)  # type: ignore[call-overload]
        return f"{self.calls}/{unit}" if unit else f"{self.calls} per {seconds(self.per_s)}"


@dataclass(frozen=True)
class Batch:
    """A batch limit: the array `parameter` is split into pieces of at most `size` items."""

    parameter: str
    size: int

    def __str__(self) -> str:
        """Return the batch as a file has it: `texts by 256`."""
        return f"{self.parameter} by {self.size}"


@dataclass(frozen=True)
class Limits:
    """The limits of a call; durations in seconds, sizes in bytes."""

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
    """The part that calls of tools and of skills share."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    """The accepted parameters, in the order of the file."""
    source: Source
    """The place of the definition; not part of its meaning."""


@dataclass(frozen=True, kw_only=True)
class ToolCallSpec(CallSpec):
    """The part of a tool that its calls are checked against; `ToolSpec` adds the rest of the file.

    It does without pydantic, whose import takes longer than opening a thousand tools.
    """

    requires_auth: bool = False
    requires_context: tuple[str, ...] = ()
    """The facts about the caller that the host must supply, such as `patient`."""
    implemented_by: str = ""
    """The `module:function` or `http METHOD PATH` that the file names; empty if it names none."""
    read_only: bool = False
    idempotent: Literal["yes", "no", "keyed"] = "no"
    unknown_parameters: Literal["reject", "ignore"] = "reject"
    returns: Schema
    """The shape of the result."""
    rules: tuple[Rule, ...] = ()
    """The conditions between the arguments."""
    safety: Safety = Safety()
    """The conditions that a call must meet before it runs."""
    limits: Limits = Limits()
    """The limits of a call."""

    @property
    def is_repeatable(self) -> bool:
        """Whether the same call may safely run twice."""
        return self.read_only or self.idempotent != "no"


def seconds(value: float) -> str:
    """Format a duration with its unit, as a file has it: `10s`, `500ms`."""
    if value >= 1 and value == int(value):
        return f"{int(value)}s"
    return f"{value * 1000:g}ms"


def written(part: Safety | Limits) -> dict[str, Any]:
    """Return the fields that the file sets, as JSON; seconds and shares are floats."""
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
"""The fields that are always written as floats: a spec made in Python may have 60 for 60.0."""


def _as_json(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(key, inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return float(value) if name in _FLOATS else value
