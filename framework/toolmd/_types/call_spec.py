"""The part of a definition that a call is checked against; it has no prose."""

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from toolmd._types.approval import Approval
from toolmd._types.diagnostic import Source
from toolmd._types.field import Row
from toolmd._types.quota import Quota
from toolmd._types.schema import Parameter, Schema

DEFAULT_TIMEOUT_S = 30.0
"""The deadline in seconds of a tool whose Limits name none."""


@dataclass(frozen=True)
class Rule:
    """A condition over the arguments, and the message for when it is false."""

    expression: str
    """A CEL expression over the parameters' names; it must return a boolean."""
    message: str


@dataclass(frozen=True)
class ErrorText:
    """What a caller reads of an exception that the function raises."""

    exception: str
    """The name of its class or of a base class; a module before the name is compared, too."""
    code: str
    message: str

    def fits(self, error: BaseException) -> bool:
        """Return whether this is the text of an exception."""
        names = ({one.__qualname__, f"{one.__module__}.{one.__qualname__}"}
                 for one in type(error).__mro__)  # fmt: skip
        return any(self.exception in each for each in names)


@dataclass(frozen=True)
class Given:
    """A name under which conditions read the result of a Read Only tool."""

    name: str
    tool: str
    arguments: dict[str, str] = field(default_factory=dict)
    """The tool's arguments by name, as CEL expressions over the call's own and its caller."""
    line: int = field(default=0, compare=False)
    """The line of the file; not part of its meaning."""

    def __str__(self) -> str:
        """Return it on one line: `order from get_order (order_id: order_id)`."""
        arguments = ", ".join(f"{name}: {cel}" for name, cel in self.arguments.items())
        return f"{self.name} from {self.tool}{f' ({arguments})' if arguments else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as canonical JSON."""
        return {"name": self.name, "tool": self.tool, "arguments": self.arguments}


# fmt: off
@dataclass(frozen=True)
class Safety:
    """The conditions that a call must meet before it runs; an absent field is None."""

    min_confidence: Annotated[float | None, Row(
        "share", "The lowest confidence (0 to 1) that a model must state.", restricts=True,
        compared="least", aliases=("Minimum Confidence", "Confidence Min"))] = None
    on_missing_confidence: Annotated[Literal["deny", "confirm"] | None, Row(
        "choice",
        "The action if a call states no confidence. With `confirm`, a person decides. Without this "
        "field, the project's setting applies.", restricts=True,
        compared=("confirm", None, "deny"))] = None
    requires_confirmation: Annotated[bool | None, Row(
        "boolean", "Whether a person must agree to each call.", "no", restricts=True,
        compared="demand", aliases=(
            "Confirmation", "Confirmation Required", "Require Confirmation",
            "Needs Confirmation", "Confirm"))] = None
    confirm_when: Annotated[str | None, Row(
        "expression", "An expression over the arguments. If it is true, a person must agree to "
        "the call.",
        restricts=True, compared="condition", aliases=(
            "Confirmation When", "Requires Confirmation When", "Require Confirmation When"))] = None
    sensitivity: Annotated[Literal["low", "medium", "high", "critical"] | None, Row(
        "choice", "How much harm a call can do. With `critical`, a person must agree to each "
        "call.", restricts=True,
        compared=(None, "low", "medium", "high", "critical"),
        aliases=("Sensitivity Level",))] = None
    explicit_intent: Annotated[bool | None, Row(
        "boolean", "Whether the user's own message must contain one of the Intent Keywords.", "no",
        restricts=True, compared="demand",
        aliases=("Explicit Intent Required", "Requires Explicit Intent", "Require Explicit Intent",
                 "Needs Explicit Intent", "Explicit User Intent"))] = None
    intent_keywords: Annotated[tuple[str, ...], Row(
        "keywords",
        "The words that show the intent. English words also match with their endings. Name the "
        "words of another language in a bullet, such as `- de: erinnere, Erinnerung`.",
        restricts=True,
        compared="words", aliases=("Intent Keyword", "Explicit Intent Keywords"))] = ()
    text: Annotated[str | None, Row(
        "line", "The question that the caller must answer. Each `{expression}` in it becomes a "
        "value. All arguments appear below the question.")] = None
    crisis_when: Annotated[str | None, Row(
        "expression", "If this expression is true, the conversation may be about a crisis, and an "
        "operator must review this call and later calls.",
        restricts=True, compared="condition", aliases=("Escalate When", "Escalation When"))] = None
# fmt: on


@dataclass(frozen=True)
class Rate:
    """A rate limit: at most `calls` calls start in any window of `per_s` seconds."""

    calls: int
    per_s: float

    def __str__(self) -> str:
        """Return the rate as a file has it: `3/s`, `100/min`, `3 per 90s`."""
        unit = {1: "s", 60: "min"}.get(self.per_s)  # type: ignore[call-overload]
        return f"{self.calls}/{unit}" if unit else f"{self.calls} per {seconds(self.per_s)}"


@dataclass(frozen=True)
class Batch:
    """A batch limit: the array `parameter` is split into pieces of at most `size` items."""

    parameter: str
    size: int

    def __str__(self) -> str:
        """Return the batch as a file has it: `texts by 256`."""
        return f"{self.parameter} by {self.size}"


# fmt: off
@dataclass(frozen=True)
class Limits:
    """The limits of a call; durations in seconds, sizes in bytes."""

    timeout_s: Annotated[float | None, Row(
        "duration", "The longest time that a call may run, such as `10s` or `500ms`.",
        name="Timeout",
        restricts=True, compared="most", aliases=("Time Out", "Call Timeout"))] = None
    retries: Annotated[int | None, Row(
        "whole", "How often Toolmd retries a failed call if the tool is Read Only or Idempotent.",
        "0", compared="most")] = None
    backoff_s: Annotated[float | None, Row(
        "duration", "The wait before the first retry. Each further wait is twice as long.", "500ms",
        name="Backoff", compared="least", aliases=("Back Off",))] = None
    rate: Annotated[Rate | None, Row(
        "rate", "The most calls that may start in a period, such as `3/s` or `100/min`.",
        restricts=True,
        compared="rate", aliases=("Rate Limit", "Max Rate", "Rate Limits"),
        stems=("Calls", "Max Calls", "Requests", "Max Requests"))] = None
    max_rows: Annotated[int | None, Row(
        "count", "The most rows of a result that a model reads.", restricts=True,
        compared="most", aliases=("Maximum Rows", "Max Row", "Max Number Of Rows"))] = None
    max_bytes: Annotated[int | None, Row(
        "size", "The most bytes of a result that a model reads.", restricts=True,
        compared="most", aliases=("Maximum Bytes", "Max Byte"), stems=("Max", "Maximum"))] = None
    max_batch: Annotated[Batch | None, Row(
        "batch", "The array to split, and the most items of each part: `texts by 256`.",
        restricts=True, compared="batch")] = None
    quotas: Annotated[tuple[Quota, ...], Row(
        "quotas", "The most calls, or the highest sum of a parameter, for each user, conversation, "
        "project, fact or expression. Examples are `3 calls per user per day`, `500 of amount per "
        "user in 7 days` and ``1 call per `order_id` ever``.", name="Quota", restricts=True,
        compared="quotas", aliases=("Quotas",))] = ()
    allowed_hours: Annotated[str | None, Row(
        "hours", "The hours in which the tool may be called: `Mon-Fri 08:00-18:00, Sat "
        "09:00-13:00`. They are in the project's time zone, unless a zone follows the hours.",
        restricts=True,
        compared="hours", aliases=("Opening Hours", "Hours"))] = None
    max_concurrent: Annotated[int | None, Row(
        "count", "The most calls that run at the same time. Further calls wait.",
        restricts=True, compared="most")] = None
    allowed_domains: Annotated[tuple[str, ...], Row(
        "hosts", "The hosts that the tool may contact. `*.suffix` allows all hosts below a "
        "name.", restricts=True,
        compared="domains", aliases=("Allowed Domain",))] = ()
# fmt: on


@dataclass(frozen=True, kw_only=True)
class CallSpec:
    """The part that calls of tools and of skills share."""

    name: Annotated[str, Row("identifier", "The name that calls use.", "the file's name")]
    parameters: tuple[Parameter, ...] = ()
    """The accepted parameters, in the order of the file."""
    source: Source
    """The place of the definition; not part of its meaning."""


@dataclass(frozen=True, kw_only=True)
class ToolCallSpec(CallSpec):
    """The part of a tool that its calls are checked against; `ToolSpec` adds the rest of the file.

    It does without pydantic, whose import takes longer than opening a thousand tools.
    """

    # fmt: off
    requires_auth: Annotated[bool, Row(
        "boolean", "Whether the host must name a user for each call.", "no", restricts=True,
        compared="demand",
        aliases=("Auth", "Auth Required", "Require Auth", "Authentication",
                 "Authentication Required", "Requires Authentication"))] = False
    requires_context: Annotated[tuple[str, ...], Row(
        "context", "The facts about the caller that the host must supply, such as `patient, "
        "tenant`.",
        restricts=True, compared="needs",
        aliases=("Require Context", "Context Required", "Required Context", "Needs Context",
                 "Context"))] = ()
    """The facts about the caller that the host must supply, such as `patient`."""
    allowed_roles: Annotated[tuple[str, ...], Row(
        "roles", "The user needs one of these roles, such as `support, manager`. The field "
        "implies Requires Auth.", restricts=True, compared="choices")] = ()
    implemented_by: Annotated[str, Row(
        "function",
        "The code that runs. `module:function` names a function of a module, which is in the same "
        "folder or installed. `http METHOD PATH` names an operation of a web service, and `mcp "
        "SERVER TOOL` a tool of an MCP server.", "the function with the tool's name",
        aliases=("Implemented In", "Implementation By"))] = ""
    """The `module:function` or `http METHOD PATH` that the file names; empty if it names none."""
    read_only: Annotated[bool, Row(
        "boolean", "Whether the tool changes nothing, so that a failed call may be retried.", "no",
        compared="claim")] = False
    idempotent: Annotated[Literal["yes", "no", "keyed"], Row(
        "choice", "Whether a repeated call changes nothing more. With `keyed`, this is true only "
        "for calls with the same idempotency key.",
        "no", compared=("yes", "keyed", "no"))] = "no"
    unknown_parameters: Annotated[Literal["reject", "ignore"], Row(
        "choice", "The action if a call has an unknown argument.",
        "reject", restricts=True, compared=("ignore", "reject"),
        aliases=("Unknown Params", "Unknown Arguments"))] = "reject"
    model_invocation: Annotated[bool, Row(
        "boolean", "Whether a model may call the tool. With `no`, only people, programs, the steps "
        "of skills and Given can call the tool.", "yes", restricts=True, compared="claim")] = True
    # fmt: on
    returns: Schema
    """The shape of the result."""
    given: tuple[Given, ...] = ()
    """The results of other tools that the conditions read."""
    rules: tuple[Rule, ...] = ()
    """The conditions between the arguments."""
    safety: Safety = Safety()
    """The conditions that a call must meet before it runs."""
    errors: tuple[ErrorText, ...] = ()
    """The texts of the function's exceptions; the first that fits counts."""
    approvals: tuple[Approval, ...] = ()
    """The conditions under which another person must approve a call."""
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
    fields: dict[str, Any] = json.loads(json.dumps(asdict(part, dict_factory=_present)))
    return fields


_FLOATS = frozenset(("min_confidence", "timeout_s", "backoff_s", "per_s", "seconds"))
"""A spec made in Python may have 60 for 60.0, and has the same hash."""


def _present(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name: float(value) if name in _FLOATS else value
            for name, value in pairs if value not in (None, "", ())}  # fmt: skip


_LABEL = re.compile(r"([a-z]{2,3}): ")


def keyword_of(language: str, word: str) -> str:
    """Return a keyword as a spec has it: `word`, or `de: word`."""
    return f"{language}: {word}" if language else word


def language_and_word(keyword: str) -> tuple[str, str]:
    """Return the code of a keyword's language, which may be empty, and its word."""
    label = _LABEL.match(keyword)
    return (label[1], keyword[label.end() :]) if label else ("", keyword)
