"""The result of a call (json.md, "A result")."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic_core import from_json, to_json

from toolmd._types.call import Budget
from toolmd._types.confirmation import Confirmation
from toolmd._types.parts import File
from toolmd._types.verdict import Problem, QuotaUse
from toolmd._types.visible import brief

NO_PARTS: Mapping[int, File] = {}
"""The parts of a value without images and files."""
Outcome = Literal["ok", "allowed", "denied", "confirm", "review", "waiting", "failed", "unknown"]


_CORRECTABLE = frozenset(
    ("invalid_arguments", "malformed_call", "unknown_tool", "missing_confidence")
)


def json_bytes(value: Any) -> bytes:
    """Return a JSON value as UTF-8; an unpaired surrogate becomes an escape."""
    try:
        return to_json(value, inf_nan_mode="null")
    except ValueError:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "backslashreplace")


class Failure(NamedTuple):
    """The reason why a call did not succeed, for the model to act on; never a stack trace."""

    code: str
    """Stable; the message is not."""
    message: str
    """The problem and the remedy."""
    details: tuple[Problem, ...] = ()
    """Each problem with the arguments."""
    retry_after_ms: int | None = None
    """The time after which a retry may succeed."""
    had_effect: bool = True
    """Whether the call may have had an effect; a Quota counts it then."""
    quota: QuotaUse | None = None
    """The quota that has too little left."""

    @property
    def is_correctable(self) -> bool:
        """Whether the model can make the call right by itself; nothing ran then."""
        return self.code in _CORRECTABLE

    def to_dict(self) -> dict[str, Any]:
        """Return `{code, message, details?, retry_after_ms?}`."""
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            shown["details"] = [problem._asdict() for problem in self.details]
        if self.quota is not None:
            shown["details"] = [self.quota._asdict()]
        if self.retry_after_ms is not None:
            shown["retry_after_ms"] = self.retry_after_ms
        return shown


class Event(NamedTuple):
    """An event of a running call: an item of its stream, or its progress."""

    kind: Literal["item", "progress"]
    """The kind of the event."""
    tool: str
    """The name of the tool."""
    call_id: str | None
    """The caller's name for the call."""
    data: Any
    """The item; for progress `{"text", "fraction"}`, the fraction 0..1 or None, and `wait_s` if the
    call waits that many seconds for its Rate."""

    def __repr__(self) -> str:
        return brief(self, "data")


class ModelResult(NamedTuple):
    """What a model reads of a result: a text, and the images and files beside it."""

    text: str
    """Compact JSON without the fields that a host has anyway."""
    parts: tuple[File, ...] = ()
    """The images and files, in order."""
    is_correctable: bool = False
    """Whether the model can correct the call; nothing ran then."""


EventListener = Callable[[Event], Awaitable[None] | None]
"""A function that receives the events of one running call."""


class _Fields(NamedTuple):
    """The fields of a Result, in the order in which calls set them."""

    success: bool
    """Whether the tool ran and succeeded."""
    tool: str
    """The name of the tool."""
    outcome: Outcome
    """The way in which the call ended."""
    message: str = ""
    """The tool's message to the user, or the reason for a confirmation."""
    data: Any = None
    """The tool's return value as JSON values."""
    error: Failure | None = None
    """The reason for a denial, a failure or an uncertain outcome."""
    tool_call_id: str | None = None
    """The caller's name for the call."""
    truncated: dict[str, Any] | None = None
    """The truncation: `rows` and `bytes`."""
    attempts: int = 0
    """The number of times that the tool ran; 0 if it did not run."""
    duration_ms: float = 0.0
    """The time from the call to its result."""
    crisis: bool = False
    """Whether the message, the reply or the conversation has the crisis flag."""
    notes: tuple[str, ...] = ()
    """Notes for the caller, such as arguments that were dropped."""
    source: dict[str, str] | None = None
    """The origin of the data: `system`, `updated`."""
    confirmation: Confirmation | None = None
    """The confirmation that a pending call waits for."""
    api_offline: bool = False
    """Whether a service was unreachable after the last retry."""
    run_id: str | None = None
    """The id of a skill's run; None for a tool's call."""
    waiting: tuple[Confirmation, ...] = ()
    """All calls and questions that the run waits for; `confirmation` is the first."""
    handle: str | None = None
    """The handle of the whole value, where `data` is only the part that a model reads."""
    parts: Mapping[int, File] = NO_PARTS
    """The images and files in the value by the numbers of their references in `data`."""
    budget: Budget | None = None
    """The budget of the plan that made the call; it bounds what a model reads."""


_FOR_MODELS = frozenset(
    ("outcome", "message", "data", "error", "truncated", "notes", "source", "run_id")
)


class Result(_Fields):
    """The result of one call; its JSON leaves out absent keys."""

    __slots__ = ()

    @property
    def data(self) -> Any:
        """The tool's return value as JSON values, decoded again on each access.

        The dispatcher stores it as JSON text, because most callers pass it on undecoded.
        """
        data = self[4]
        return from_json(data) if type(data) is bytes else data

    def __repr__(self) -> str:
        return brief(self, "message", "data", "truncated")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # contains mutable values

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON (json.md, "A result")."""
        shown, after = self._around_data()
        if (data := self.data) is not None or self.outcome == "ok":
            shown["data"] = data
        return shown | after

    def to_json(self) -> bytes:
        """Return its JSON as UTF-8; the tool's value is JSON already, and is not read for it."""
        data = self[4]
        if type(data) is not bytes:
            return json_bytes(self.to_dict())
        before, after = self._around_data()
        return b'%b,"data":%b,%b' % (json_bytes(before)[:-1], data, json_bytes(after)[1:])

    def _around_data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what its JSON has before the tool's value and after it."""
        shown: dict[str, Any] = {"success": self.success}
        if self.tool_call_id is not None:
            shown["tool_call_id"] = self.tool_call_id
        shown |= {"tool": self.tool, "outcome": self.outcome}
        if self.message:
            shown["message"] = self.message
        before, shown = shown, {}
        if (error := self.error) is not None:
            shown["error"] = error.to_dict()
        if (truncated := self._truncated()) is not None:
            shown["truncated"] = truncated
        shown |= {"attempts": self.attempts, "duration_ms": round(self.duration_ms, 3)}
        shown["crisis"] = self.crisis
        if self.api_offline:
            shown["api_offline"] = True
        if self.notes:
            shown["notes"] = list(self.notes)
        if self.source is not None:
            shown["source"] = self.source
        if self.confirmation is not None:
            shown["confirmation"] = self.confirmation.to_request()
        if self.run_id is not None:
            shown["run_id"] = self.run_id
        if self.parts:
            shown["parts"] = [part.to_dict(number) for number, part in self.parts.items()]
        if self.waiting:
            shown["waiting"] = [pending.to_dict() for pending in self.waiting]
        return before, shown

    def for_model(self) -> ModelResult:
        """Return what a model reads of it, without measurements and a person's fields."""
        shown = {k: v for k, v in self._replace(parts={}).to_dict().items() if k in _FOR_MODELS}
        if not any((self._truncated() or {}).values()):
            shown.pop("truncated", None)
        if self.confirmation is not None and not self.message:
            shown["message"] = self.confirmation.prompt_for_model
        if self.success:
            del shown["outcome"]
        text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=str)
        denied = self.error if self.outcome == "denied" else None
        is_correctable = denied is not None and denied.is_correctable
        return ModelResult(text, tuple(self.parts.values()), is_correctable)

    def _truncated(self) -> dict[str, Any] | None:
        """Return what was cut, with the handle of the whole."""
        if self.handle is None:
            return self.truncated
        return {"rows": False, "bytes": False, **(self.truncated or {}), "handle": self.handle}


@dataclass(frozen=True, slots=True)
class SkillResult:
    """The return value of a skill in Python (format.md, "Skill file"); callers get a `Result`."""

    success: bool
    """Whether the skill reached its end or a Return."""
    message: str = field(repr=False)
    """A message to the user."""
    data: dict[str, Any] = field(default_factory=dict, repr=False)
    """The values of its Return."""
    error: str | None = None
    """The error; None if the skill succeeded."""
    run_id: str | None = None
    """The id of its run."""
    code: str = ""
    """The stable code of the error: `stopped` by a step, `refused` by a person, `waiting` for one
    or for a time, `cancelled`, `invalid_arguments`, `not_executable`, or the code of the call that
    failed."""
    notes: Sequence[str] = ()
    """What a reader must know besides the message: each step that failed and continued."""

    @classmethod
    def failed(cls, code: str, message: str) -> "SkillResult":
        """Return the result of a skill that failed.

        Args:
            code: The code, such as `not_available`; the result's error begins with it.
            message: What failed, for the model and the user.
        """
        return cls(success=False, message=message, error=f"{code}: {message}", code=code)

    def to_dict(self) -> dict[str, Any]:
        """Return `{success, message, data, error}`, and notes and the run's id if it has any."""
        shown = {
            "success": self.success,
            "message": self.message,
            "data": self.data,
            "error": self.error,
        }
        if self.notes:
            shown["notes"] = list(self.notes)
        return shown if self.run_id is None else {**shown, "run_id": self.run_id}
