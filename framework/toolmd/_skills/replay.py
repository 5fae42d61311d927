"""Replay a run's events by interpreting it over its record without any effect."""

import datetime as dt
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from toolmd._skills.graph import states_of
from toolmd._skills.interpreter import RESULT, interpret
from toolmd._skills.journal import (
    Effect,
    Journal,
    ParkedError,
    Through,
    UncertainOutcome,
)
from toolmd._types.call import Call
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, JournalEntry, Order, Question, RunEvent, RunTrace, RunView
from toolmd._validation.redact import HIDDEN, Secrets, redacted


async def trace(order: Order, view: RunView) -> RunTrace:
    """Return what a run did so far and the state of each step, without Sensitive values.

    The record does not contain skipped steps and chosen ways: they follow from the recorded
    values. Nothing is called.
    """
    record, skill = _Record(order, view), order.plan.skill
    secrets = Secrets()
    with suppress(ParkedError):
        if view.state == "scheduled":
            raise ParkedError
        await interpret(order, record, record, secrets)
    events = (*record.events, *_end_open(record.events, view))
    in_python = skill.name in order.plan.python
    states = {} if in_python else states_of(skill.name, events, view.questions)
    return RunTrace(_hide(view, order, secrets), skill, events, states)


def _end_open(events: Iterable[RunEvent], view: RunView) -> list[RunEvent]:
    """Return the ends of the steps that were open when their run was cancelled."""
    if view.state != "cancelled" or view.result is None:
        return []
    still: dict[tuple[str, str], RunEvent] = {}
    for event in events:
        if event.kind in ("started", "waiting"):
            still[event.skill, event.step] = event
        elif event.kind in ("done", "failed", "skipped"):
            still.pop((event.skill, event.step), None)
    return [event._replace(kind="failed", text=view.result.message) for event in still.values()]


def without_steps(view: RunView, order: Order) -> RunView:
    """Return a view of a run without its steps and without Sensitive values.

    The calls that tell which parts of the result are Sensitive are not read: its data is hidden.
    """
    view, result = view._replace(entries=()), view.result
    if result is not None and result.data is not None and order.plan.holds_sensitive:
        view = view._replace(result=result._replace(data=HIDDEN, parts={}))
    return _hide(view, order, Secrets())


def _hide(view: RunView, order: Order, secrets: Secrets) -> RunView:
    """Return a view of a run with the values of its Sensitive parameters and `secrets` masked."""
    plan = order.plan
    if not plan.holds_sensitive:
        return view
    specs = (plan.skill, *plan.skills.values(), *plan.tools.values())
    known = tuple(p for spec in specs for p in spec.parameters if p.shape.holds_sensitive)
    secrets.learn(order.inputs, plan.skill.parameters)
    values = []
    for entry in view.entries:
        value = entry.value
        if isinstance(value, dict) and isinstance(value.get("arguments"), dict):
            secrets.learn(value["arguments"], known)
            value = {**value, "arguments": redacted(value["arguments"], known)}
        values.append(value)
    pairs = zip(view.entries, values, strict=True)
    entries = tuple(entry._replace(value=secrets.hide_in(value)) for entry, value in pairs)
    inputs, result = secrets.hide_in(redacted(view.inputs, plan.skill.parameters)), view.result
    if result is not None and result.data is not None:
        result = result._replace(data=secrets.hide_in(result.data))
    return view._replace(inputs=inputs, entries=entries, result=result)


class _Record(Journal):
    """A read-only record, and an executor that calls nothing."""

    def __init__(self, order: Order, view: RunView) -> None:
        self.events: list[RunEvent] = []
        began = dt.datetime.fromisoformat(view.began)
        super().__init__(began, view.entries, self.events.append)
        self._order = order
        asks_back = any(question.undoes for question in view.questions)
        self.stopped = view.state == "cancelled" or asks_back

    def has(self, key: str) -> bool:
        """Return whether a call is recorded; false for Python, which must seem to run again."""
        return super().has(key) and not key.endswith(RESULT)

    async def run(
        self, key: str, effect: Effect, uncertain: UncertainOutcome | None
    ) -> JournalEntry:
        """Run nothing: the run came no further than this."""
        del key, effect, uncertain
        raise ParkedError

    async def answer(self, question: Question) -> Answer:
        return Answer(**await self.perform(question.key, self._nothing))

    async def call(self, *call: Any) -> Any:
        """Raise an error: while a record is read, nothing is called and nothing waits."""
        raise AssertionError(f"{call} is called while a record is read")

    confirm = reject = call

    async def python(self, call: Call, through: Through) -> Any:
        """Make the recorded calls of a skill's Python in order, then return its recorded result."""
        assert call.key is not None
        prefix = call.key.removeprefix(f"{self._order.id}/").removesuffix(call.tool)
        number = 1
        while (made := self.entries.get(f"{prefix}{number}:call")) is not None:
            arguments: Mapping[str, Any] = made.value["arguments"]
            await through(made.value["name"], arguments)
            number += 1
        if (ended := self.entries.get(f"{prefix}{call.tool}{RESULT}")) is None:
            raise ParkedError
        return SkillResult(**ended.value)

    async def _nothing(self) -> None:
        """Do nothing."""
