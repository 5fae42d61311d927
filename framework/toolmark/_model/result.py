"""What comes back from a call: behaviour.md, "Result"."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from toolmark._model.verdict import Problem

Outcome = Literal["ok", "allowed", "denied", "confirm", "review", "failed", "unknown"]


class Failure(NamedTuple):
    """Why a call did not succeed, in words that a model can act on; never a stack trace."""

    code: str
    message: str
    details: tuple[Problem, ...] = ()
    retry_after_ms: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give `{code, message, details?, retry_after_ms?}`."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            shown["details"] = [problem._asdict() for problem in self.details]
        if self.retry_after_ms is not None:
            shown["retry_after_ms"] = self.retry_after_ms
        return shown


class Held(NamedTuple):
    """The confirmation that a held call waits for."""

    id: str
    prompt: str
    sensitivity: str = "low"


@dataclass(frozen=True, slots=True)
class Result:
    """One call's outcome; keys that are absent are left out of the JSON."""

    success: bool
    tool: str
    outcome: Outcome
    message: str = ""
    data: Any = None
    error: Failure | None = None
    tool_call_id: str | None = None
    truncated: dict[str, bool] | None = None
    attempts: int = 0
    duration_ms: float = 0.0
    crisis: bool = False
    notes: tuple[str, ...] = ()
    source: dict[str, str] | None = None
    confirmation: Held | None = None
    api_offline: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON of behaviour.md."""
        shown: dict[str, Any] = {"success": self.success}
        if self.tool_call_id is not None:
            shown["tool_call_id"] = self.tool_call_id
        shown |= {"tool": self.tool, "outcome": self.outcome}
        if self.message:
            shown["message"] = self.message
        if self.data is not None or self.outcome == "ok":
            shown["data"] = self.data
        if self.error is not None:
            shown["error"] = self.error.to_dict()
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
            shown["confirmation"] = self.confirmation._asdict()
        return shown


@dataclass(frozen=True, slots=True)
class SkillResult:
    """What a skill gives: seed 003, "Output Schema"."""

    success: bool
    message: str
    data: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    run_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give `{success, message, data, error}` and the run's id."""
        shown = {
            "success": self.success,
            "message": self.message,
            "data": self.data,
            "error": self.error,
        }
        return shown if self.run_id is None else {**shown, "run_id": self.run_id}
