"""The Result of a call: behaviour.md, "Result"."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic_core import from_json

from toolmd._types.pending import PendingCall
from toolmd._types.verdict import Problem

Outcome = Literal["ok", "allowed", "denied", "confirm", "review", "failed", "unknown"]


class Failure(NamedTuple):
    """Why a call did not succeed, in words for a model; never a stack trace."""

    code: str
    """Stable, while the message's words are not."""
    message: str
    """What is wrong, and what would be right."""
    details: tuple[Problem, ...] = ()
    """Each thing that is wrong with the arguments."""
    retry_after_ms: int | None = None
    """When trying again may help."""

    def to_dict(self) -> dict[str, Any]:
        """Return `{code, message, details?, retry_after_ms?}`."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            shown["details"] = [problem._asdict() for problem in self.details]
        if self.retry_after_ms is not None:
            shown["retry_after_ms"] = self.retry_after_ms
        return shown


class ConfirmationRequest(NamedTuple):
    """The confirmation that a call waits for; without an id in a dry run."""

    id: str
    """The id for `approve`, `reject` and `respond`."""
    prompt: str
    """The question to the person."""
    sensitivity: str = "low"
    """The tool's sensitivity: `low`, `medium`, `high` or `critical`."""


class Event(NamedTuple):
    """An event of a running call: an item of its stream, or its progress."""

    kind: Literal["item", "progress"]
    """`item` or `progress`."""
    tool: str
    """The name of the tool."""
    call_id: str | None
    """The caller's name for the call."""
    data: Any
    """The item; for progress `{"text", "fraction"}`, the fraction 0..1 or None."""


EventListener = Callable[[Event], Awaitable[None] | None]
"""A listener to the events of one running call."""


class _Fields(NamedTuple):
    """The fields of a Result, in the order in which calls set them."""

    success: bool
    """Whether the tool ran and succeeded."""
    tool: str
    """The name of the tool."""
    outcome: Outcome
    """The outcome, such as `ok` or `denied`."""
    message: str = ""
    """The tool's message, or why a person must decide."""
    data: Any = None
    """The tool's data, as JSON values."""
    error: Failure | None = None
    """Why the call was denied, failed or has an unknown outcome."""
    tool_call_id: str | None = None
    """The caller's name for the call."""
    truncated: dict[str, Any] | None = None
    """What was cut: `rows` and `bytes`, and `next`, the arguments to read on with."""
    attempts: int = 0
    """How often the tool ran; 0 where it did not."""
    duration_ms: float = 0.0
    """The time from the call to its result, in milliseconds."""
    crisis: bool = False
    """Whether the user's message contained a crisis word."""
    notes: tuple[str, ...] = ()
    """What the caller should know, such as arguments that were dropped."""
    source: dict[str, str] | None = None
    """Where the data comes from: `system`, `updated`."""
    confirmation: ConfirmationRequest | None = None
    """The confirmation that the call waits for."""
    api_offline: bool = False
    """Whether a service could not be reached after the last retry."""
    run_id: str | None = None
    """The id of a skill's run; None for a tool's call."""
    waiting: tuple[PendingCall, ...] = ()
    """Everything that the run waits for; `confirmation` is the first of it."""


class Result(_Fields):
    """One call's outcome; keys that are absent are left out of the JSON."""

    __slots__ = ()

    @property
    def data(self) -> Any:
        """The tool's data, as JSON values that nothing else shares.

        The data is kept as JSON text: most callers pass it on without decoding.
        """
        data = self[4]
        return from_json(data) if type(data) is bytes else data

    @property
    def error(self) -> Failure | None:
        """Why the call did not succeed; arguments that don't fit are explained when asked for."""
        error: Failure | Callable[[], Failure] | None = self[5]
        return error() if callable(error) else error

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"Result({shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # holds values that can change

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON (json.md, "A result")."""
        shown: dict[str, Any] = {"success": self.success}
        if self.tool_call_id is not None:
            shown["tool_call_id"] = self.tool_call_id
        shown |= {"tool": self.tool, "outcome": self.outcome}
        if self.message:
            shown["message"] = self.message
        if (data := self.data) is not None or self.outcome == "ok":
            shown["data"] = data
        if (error := self.error) is not None:
            shown["error"] = error.to_dict()
        if self.truncated is not None:
            shown["truncated"] = self.truncated
        shown |= {"attempts": self.attempts, "duration_ms": round(self.duration_ms, 3)}
        shown["crisis"] = self.crisis
        if self.api_offline:
            shown["api_offline"] = True
        if self.notes:
            shown["notes"] = list(self.notes)
        if self.source is not None:
            shown["source"] = self.source
        if self.confirmation is not None:
            shown["confirmation"] = {k: v for k, v in self.confirmation._asdict().items() if v}
        if self.run_id is not None:
            shown["run_id"] = self.run_id
        if self.waiting:
            shown["waiting"] = [pending.to_dict() for pending in self.waiting]
        return shown


@dataclass(frozen=True, slots=True)
class SkillResult:
    """What a skill's Python may return (format.md, "Skill file"); its caller gets a Result."""

    success: bool
    """Whether the skill came to its end, or to a Return."""
    message: str
    """What happened, in words."""
    data: dict[str, Any] = field(default_factory=dict)
    """What its Return gives."""
    error: str | None = None
    """What went wrong; None where nothing did."""
    run_id: str | None = None
    """Of the run that it comes from."""
    code: str = ""
    """Why it did not succeed, stable: `stopped` by a step, `refused` by a person, `waiting` for
    one, `cancelled`, `invalid_arguments`, `not_executable`, or the code of the call that failed."""

    @classmethod
    def failed(cls, code: str, message: str) -> "SkillResult":
        """Return the result of a skill that did not come to its end; its error names the code."""
        return cls(success=False, message=message, error=f"{code}: {message}", code=code)

    def to_dict(self) -> dict[str, Any]:
        """Return `{success, message, data, error}`, and the run's id where it has one."""
        shown = {
            "success": self.success,
            "message": self.message,
            "data": self.data,
            "error": self.error,
        }
        return shown if self.run_id is None else {**shown, "run_id": self.run_id}
