"""A run of a skill: its order, its questions, its events and its state."""

import datetime as dt
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolmd._types.call import NOBODY, Caller
from toolmd._types.result import Result

if TYPE_CHECKING:
    from toolmd._types.plan import Plan
    from toolmd._types.skill import SkillSpec


class Order(NamedTuple):
    """One run as it was asked for; all of it is JSON or a noun, so that it can be kept."""

    id: str
    plan: "Plan"
    inputs: dict[str, Any]
    caller: Caller = NOBODY
    confidence: float | None = None

    def is_of(self, known: "Order") -> bool:
        """Return whether this asks for the run that is known under its id, for the same person.

        The steps may have changed since: a run keeps its own.
        """
        return _asked(self) == _asked(known)


def _asked(order: Order) -> tuple[object, ...]:
    # As JSON, in which true is not 1.
    inputs = json.dumps(order.inputs, sort_keys=True)
    caller = order.caller
    return order.plan.skill.name, inputs, caller.user, caller.context


UNDOING = ":undo:"
"""Stands in the keys of what takes steps back, which a run does that was cancelled, too."""


class Question(NamedTuple):
    """A question that a person must answer before a run goes on."""

    run_id: str
    """The run that asks."""
    key: str
    """Names the place in the run: `4:ask`; an answer is given for it."""
    skill: str
    """The skill whose step asks."""
    step: str
    """The step's title."""
    prompt: str
    """What the person is asked."""
    tool: str | None = None
    """The call that a yes approves, and its arguments."""
    arguments: dict[str, Any] | None = None
    """Those of the call; None where no call is approved."""
    sensitivity: str = "low"
    """Of the tool: `low`, `medium`, `high` or `critical`."""
    timeout_s: float | None = None
    """After so many seconds it counts as a no; None where it waits for ever."""
    saves: str | None = None
    """The name under which the run saves the person's words; None for a yes-or-no question."""
    kind: Literal["review"] | None = None
    """`review` is for an operator, not for the run's own user."""

    @property
    def asker(self) -> str:
        """The key of the step that asks."""
        return self.key.rsplit(":", 1)[0]

    @property
    def undoes(self) -> bool:
        """Whether it is asked on the way back."""
        return UNDOING in self.key

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON; what is absent is left out."""
        return {key: value for key, value in self._asdict().items() if value is not None}


class Answer(NamedTuple):
    """A person's answer, or the timeout."""

    approved: bool
    """Yes or no."""
    text: str | None = None
    """Their words, for a question that is no mere yes or no."""
    arguments: dict[str, Any] | None = None
    """Other values for the call, where they approved it so changed."""
    by: str | None = None
    """The user who answered; None for the operator."""
    late: bool = False
    """No answer came in time; counts as a no."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON; what is absent is left out."""
        return {key: value for key, value in self._asdict().items() if value is not None}


RunKind = Literal["started", "skipped", "waiting", "done", "failed", "undone", "kept", "progress"]
"""`kept`: the Undo of a step was denied or failed, so the step's effect stays."""


class RunEvent(NamedTuple):
    """An event of a run."""

    run_id: str
    """The id of the run."""
    kind: RunKind
    """What happened to the step."""
    skill: str
    """The skill that the step belongs to."""
    step: str
    """The step's key: `2`, `No slots/1[3]`, `2:visit/4` within a skill that step 2 uses."""
    title: str
    """The step's title."""
    text: str = ""
    """Details: a prompt, a reason, how far it is."""

    @classmethod
    def waiting(cls, question: Question) -> "RunEvent":
        """Report that a step waits for an answer."""
        return cls(question.run_id, "waiting", question.skill, question.asker, question.step,
                   question.prompt)  # fmt: skip

    @property
    def mark(self) -> tuple[str, str, str]:
        """Equal for an event that is reported again because its run is replayed."""
        return self.kind, self.step, self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON."""
        return dict(self._asdict())


RunListener = Callable[[RunEvent], None]
"""A listener to the events of a run."""
YesOrNo = Answer | bool
Reply = YesOrNo | None
Asker = Callable[[Question], Reply | Awaitable[Reply]]
"""Asks a person: an Answer, plain yes or no, or None where nobody is at hand."""
Clock = Callable[[], dt.datetime]
"""Return the time, with its zone."""
StepState = Literal["running", "waiting", "done", "failed", "skipped", "undone"]


class JournalEntry(NamedTuple):
    """A recorded effect, which this run never repeats."""

    key: str
    value: Any
    """JSON."""
    at: str
    """ISO 8601, UTC."""


RunState = Literal["running", "waiting", "stuck", "done", "failed", "cancelled"]
"""`stuck`: resumed several times without progress; it waits for `resume`."""


class RunView(NamedTuple):
    """The state of a run."""

    id: str
    """Its name, which no other run has."""
    skill: str
    """The name of the skill."""
    state: RunState
    """How it stands."""
    inputs: dict[str, Any]
    """What the skill was given."""
    began: str
    """When, ISO 8601."""
    entries: tuple[JournalEntry, ...] = ()
    """What was done, in order; empty in a list of runs."""
    questions: tuple[Question, ...] = ()
    """What it waits for."""
    result: Result | None = None
    """What it came to; None as long as it has not ended."""

    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON."""
        return {
            "id": self.id,
            "skill": self.skill,
            "state": self.state,
            "inputs": self.inputs,
            "began": self.began,
            "steps": [entry._asdict() for entry in self.entries],
            "questions": [question.to_dict() for question in self.questions],
            "result": self.result and self.result.to_dict(),
        }


class RunQuery(NamedTuple):
    """Which runs are listed, the newest first."""

    user: str | None = None
    """Whose; all where it is None."""
    limit: int | None = None
    """At most so many."""
    after: tuple[str, str] | None = None
    """The beginning and the id of the run behind which the list goes on."""


class RunTrace(NamedTuple):
    """The steps of a run so far, from its record."""

    view: RunView
    """Where it stands."""
    skill: "SkillSpec"
    """The skill as it was when the run began."""
    events: tuple[RunEvent, ...]
    """What it told, in order."""
    states: dict[str, StepState]
    """How each step fares, by its id; empty for a skill in Python, whose steps are prose."""
