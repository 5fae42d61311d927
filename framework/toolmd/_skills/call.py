"""The outcome of a step: where it leads, its errors, and the record of its call as JSON."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolmd._skills.journal import UncertainOutcome
from toolmd._types.approval import OpenApproval
from toolmd._types.asked import Asked
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._types.result import Result
from toolmd._types.run import Question
from toolmd._types.tool import ToolSpec
from toolmd._types.visible import arguments_text
from toolmd.errors import logged

_PASSING = frozenset({"failed", "unknown"})
_WAITS = frozenset({"internal_guard_error", "tool_error"})
"""The codes of calls that never started, if they may be sent again after a while."""


class Go(NamedTuple):
    """Continue in another section."""

    target: str
    item: str = ""
    """The key of the item of a loop that failed or was declined, where one did."""


class End(NamedTuple):
    """The end of the skill."""

    success: bool
    message: str = ""
    data: Mapping[str, Any] = {}
    error: str | None = None
    code: str = ""
    item: str = ""

    @classmethod
    def stop(cls, message: str, code: str = "stopped", error: str | None = None) -> "End":
        """End without success."""
        return cls(success=False, message=message, error=error or message, code=code)


class StepError(Exception):
    """A step failed; the code is stable, the message is for people."""

    def __init__(self, code: str, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.passing = passing
        """Whether trying again may help."""


class DeclinedError(Exception):
    """A person declined, or nobody answered in time."""

    def __init__(self, *, late: bool, by: str | None = None) -> None:
        super().__init__("late" if late else "refused")
        self.late = late
        self.by = by
        """The person who declined, where their name is known."""


class InsteadError(Exception):
    """A person answered in place of a call: it does not run, and their text is its result."""

    def __init__(self, words: str, by: str | None = None) -> None:
        super().__init__("answered")
        self.words = words
        self.by = by
        """The person who answered, where their name is known."""


class Outcome(NamedTuple):
    """The outcome of a call as the record stores it: JSON."""

    outcome: str
    data: Any = None
    code: str = ""
    message: str = ""
    held: Confirmation | None = None

    @classmethod
    def of(cls, result: Result) -> "Outcome":
        """Return the parts of a result that a run needs."""
        error = result.error
        code, message = (error.code, error.message) if error else ("", result.message)
        return cls(result.outcome, result.data, code, message, result.confirmation)

    @classmethod
    def late(cls, tool: ToolSpec | None, name: str, timeout_s: float | None) -> "Outcome":
        """Return the outcome of a call that took longer than its step's Timeout."""
        within = f"{name} did not answer within {timeout_s:g} s"
        if tool is not None and tool.read_only:
            return cls("failed", None, "timeout", f"{within}.")
        message = f"{within}; it may have taken effect all the same."
        if tool is not None and tool.is_repeatable:
            return cls("failed", None, "timeout", message)
        return cls("unknown", None, "outcome_unknown", message)

    @classmethod
    def broken(cls, name: str, error: Exception) -> "Outcome":
        """Return the outcome of a call that raised an error on its way, and log the error."""
        reference = logged(error, "the call of %s did not reach its tool", name)
        message = (
            f"the call failed and may have taken effect; the log has the reason under {reference}."
        )
        return cls("unknown", None, "outcome_unknown", message)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Outcome":
        """Read a record."""
        if (held := record["held"]) is None:
            return cls(**record)
        form = held.get("form")
        call = Call("", {}, asked=None if form is None else Asked("", form))
        asked = Confirmation(
            held["id"], held["prompt"], held["sensitivity"], call=call, expires=held.get("expires"),
            code=held.get("code", ""), approvals=tuple(map(OpenApproval.of, held.get("open", ()))),
        )  # fmt: skip
        return cls(**{**record, "held": asked})

    def to_json(self) -> dict[str, Any]:
        """Return the record."""
        held = self.held and {**self.held.to_request(), "open": self.held.approvals}
        return {**self._asdict(), "held": held}

    def failure(self, name: str) -> StepError:
        """Return the error of a call that did not succeed."""
        code = self.code or ("tool_error" if self.held is None else self.held.waits_as)
        passing = self.outcome in _PASSING or code == "rate_limited"
        return StepError(code, f"{name}: {self.message or code}", passing=passing)


def never_started(result: Result) -> bool:
    """Return whether a call waits for the store or for its Python, and nothing has run."""
    error = result.error
    return error is not None and error.code in _WAITS and error.retry_after_ms is not None


def uncertain(question: Question) -> UncertainOutcome:
    """Return what a person is asked about a call that was cut off, and what a yes records.

    Args:
        question: The question without its text; it has the call's tool and arguments.
    """
    given = arguments_text(question.arguments or {})
    called = f" with {given}" if given else ""
    prompt = (
        f"Did {question.tool} take effect? The process ended while it was called{called} for the "
        f"step '{question.step}', and it must not be called twice."
    )
    if question.saves is not None:
        prompt += " The run reads what it returned: a yes states that as JSON."

    def happened(text: str | None) -> dict[str, Any]:
        return Outcome("ok", None if text is None else json.loads(text)).to_json()

    return UncertainOutcome(question._replace(prompt=prompt), happened)
