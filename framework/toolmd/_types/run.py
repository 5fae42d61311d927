"""The run of a skill: its order, questions, answers, events and state."""

import datetime as dt
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolmd._types.approval import OpenApproval
from toolmd._types.call import NOBODY, Caller
from toolmd._types.result import Result, SkillResult
from toolmd._types.schema import plain_numbers
from toolmd._types.visible import brief

if TYPE_CHECKING:
    from toolmd._types.skill import Plan, SkillSpec


class Order(NamedTuple):
    """The request for one run; it can be stored, because all of it is JSON or a data type."""

    id: str
    plan: "Plan"
    inputs: dict[str, Any]
    caller: Caller = NOBODY
    confidence: float | None = None

    def __repr__(self) -> str:
        return brief(self, "inputs")

    def is_of(self, known: "Order") -> bool:
        """Return whether this requests the known run with the same id, for the same person.

        The steps are not compared: a run keeps its own.
        """
        return _asked(self) == _asked(known)


def _asked(order: Order) -> tuple[object, ...]:
    # Compared as JSON, where true differs from 1, and 2.0 is 2.
    inputs = json.dumps(plain_numbers(order.inputs), sort_keys=True)
    caller = order.caller
    return order.plan.skill.name, inputs, caller.user, caller.context


UNDOING = ":undo:"
"""Marks the keys of Undo calls, which a cancelled run also makes."""

START = "start:wait"
"""The key of the wait for the time at which a run starts."""


HAPPENED = ":happened"
"""The end of the key of a question whether an interrupted call took effect."""


class Question(NamedTuple):
    """A question that a person must answer before a run continues."""

    run_id: str
    """The id of the run."""
    key: str
    """The place in the run, such as `4:ask`; an answer names it."""
    skill: str
    """The skill whose step asks."""
    step: str
    """The step's title."""
    prompt: str
    """The question for the person."""
    tool: str | None = None
    """The tool whose call a yes approves; None if it approves no call."""
    arguments: dict[str, Any] | None = None
    """The arguments of that call."""
    sensitivity: str = "low"
    """The tool's sensitivity: `low`, `medium`, `high` or `critical`."""
    timeout_s: float | None = None
    """The seconds after which it counts as a no; None if it never expires."""
    saves: str | None = None
    """The name under which the run saves the answer, or reads what an interrupted call returned;
    None for a yes-or-no question."""
    kind: Literal["review", "wait"] | None = None
    """`review` asks an operator, not the run's own user; `wait` asks nobody, but waits."""
    until: str | None = None
    """The time that a `wait` waits for, ISO 8601 in UTC."""
    form: dict[str, Any] | None = None
    """The JSON Schema of what the tool's server asks for; None where a yes is enough."""
    by: list[str] | str | None = None
    """Who answers instead of the caller: roles, or an expression; None for her own question."""
    escalate: list[tuple[float, list[str]]] | None = None
    """After how many seconds further roles may answer, and which."""
    reads: dict[str, Any] | None = None
    """The values that the expression of `by` reads, which nobody is shown; the caller's facts are
    among them."""

    @classmethod
    def start(cls, order: Order, at: dt.datetime) -> "Question":
        """Return the question of a run that waits for its start.

        Args:
            order: The run that is asked for.
            at: The time of its start, in UTC.
        """
        skill, shown = order.plan.skill, f"{at:%Y-%m-%d %H:%M:%S} UTC"
        return cls(order.id, START, skill.name, skill.title, f"Starts at {shown}.", kind="wait",
                   until=at.isoformat())  # fmt: skip

    @property
    def id(self) -> str:
        """The id under which a person decides it."""
        return f"{self.run_id}/{self.key}"

    @property
    def asks(self) -> bool:
        """Whether a person can answer it; a run can also wait for a time."""
        return self.kind != "wait"

    @property
    def asks_outcome(self) -> bool:
        """Whether it asks if an interrupted call took effect; a yes confirms nothing then."""
        return self.key.endswith(HAPPENED)

    def as_result(self) -> SkillResult:
        """Return the result of a run that waits for the answer or the time."""
        what = f"an answer to {self.key}" if self.asks else self.until
        return SkillResult(
            success=False,
            message=self.prompt,
            error=f"waiting: {self.skill} waits for {what}",
            run_id=self.run_id,
            code="waiting",
        )

    def ends(self, now: dt.datetime) -> dt.datetime | None:
        """Return when the wait for an answer ends, if it began now; None for never."""
        if self.until is not None:
            return dt.datetime.fromisoformat(self.until)
        return None if self.timeout_s is None else now + dt.timedelta(seconds=self.timeout_s)

    @property
    def asker(self) -> str:
        """The key of the step that asks."""
        return self.key.rsplit(":", 1)[0]

    @property
    def undoes(self) -> bool:
        """Whether an Undo asks it."""
        return UNDOING in self.key

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON without absent keys."""
        shown = self._replace(reads=None)._asdict()
        return {key: value for key, value in shown.items() if value is not None}

    def approvals(self, opened: float) -> tuple[OpenApproval, ...]:
        """Return the approval that it is for another person, asked at a time since the epoch."""
        if self.by is None:
            return ()
        by = self.by if isinstance(self.by, str) else tuple(self.by)
        escalate = tuple((opened + after, tuple(roles)) for after, roles in self.escalate or ())
        return (OpenApproval(0, self.step, by, "", escalate),)


class Answer(NamedTuple):
    """A person's answer, or the fact that none came in time."""

    approved: bool
    """Yes or no."""
    text: str | None = None
    """The person's words, for a question that asks for text; the JSON of what an interrupted call
    returned."""
    arguments: dict[str, Any] | None = None
    """The edited arguments of the call; None if the person changed none."""
    by: str | None = None
    """The user who answered; None for the operator."""
    late: bool = False
    """No answer came in time; counts as a no."""

    def __repr__(self) -> str:
        return brief(self, "text", "arguments")

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON without absent keys."""
        return {key: value for key, value in self._asdict().items() if value is not None}


RunKind = Literal["started", "skipped", "waiting", "done", "failed", "undone", "kept", "progress"]
"""`kept`: a step has no Undo, or its Undo was denied or failed, so the effect remains."""


class RunEvent(NamedTuple):
    """An event of a run, for its observers."""

    run_id: str
    """The id of the run."""
    kind: RunKind
    """The change of the step's state."""
    skill: str
    """The skill that the step belongs to."""
    step: str
    """The step's key: `2`, `No slots/1[3]`, `2:visit/4` within a skill that step 2 uses."""
    title: str
    """The step's title."""
    text: str = ""
    """Details: a prompt, a reason, or the progress."""

    @classmethod
    def waiting(cls, question: Question) -> "RunEvent":
        """Return the event of a step that waits for an answer."""
        return cls(question.run_id, "waiting", question.skill, question.asker, question.step,
                   question.prompt)  # fmt: skip

    @property
    def mark(self) -> tuple[str, str, str]:
        """The identity of the event; it stays equal when a replay of the run repeats it."""
        return self.kind, self.step, self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON."""
        return dict(self._asdict())


RunListener = Callable[[RunEvent], None]
"""A function that receives each event of a run."""
YesOrNo = Answer | bool
Reply = YesOrNo | None
Asker = Callable[[Question], Reply | Awaitable[Reply]]
"""Asks a person; returns an Answer, a plain yes or no, or None if nobody is available."""
Clock = Callable[[], dt.datetime]
"""Returns the time, with its zone."""
StepState = Literal["running", "waiting", "done", "failed", "skipped", "undone"]


class JournalEntry(NamedTuple):
    """A recorded call or value that a replay of the run does not repeat."""

    key: str
    value: Any
    """JSON."""
    at: str
    """ISO 8601, UTC."""


RunState = Literal["scheduled", "running", "waiting", "stuck", "done", "failed", "cancelled"]
"""`scheduled`: the run starts at the time of its `began`. `stuck`: repeated attempts made no
progress; the run waits for a resume."""


class RunView(NamedTuple):
    """The state of a run."""

    id: str
    """The unique id of the run."""
    skill: str
    """The name of the skill."""
    state: RunState
    """The current state."""
    inputs: dict[str, Any]
    """The inputs of the skill."""
    began: str
    """The start time, ISO 8601."""
    entries: tuple[JournalEntry, ...] = ()
    """The recorded calls, in order; empty in a list of runs."""
    questions: tuple[Question, ...] = ()
    """The questions that it waits for."""
    result: Result | None = None
    """The result; None until the run has ended."""

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
    """The filter of a list of runs, newest first."""

    user: str | None = None
    """The user of the runs; None lists all."""
    limit: int | None = None
    """The maximum number of runs."""
    after: tuple[str, str] | None = None
    """The start time and id of the run after which the list continues."""


class RunTrace(NamedTuple):
    """The history of a run, rebuilt from its record."""

    view: RunView
    """The state of the run."""
    skill: "SkillSpec"
    """The skill as it was when the run began."""
    events: tuple[RunEvent, ...]
    """Its events, in order."""
    states: dict[str, StepState]
    """The state of each step by id; empty for a skill in Python, whose steps are prose."""
