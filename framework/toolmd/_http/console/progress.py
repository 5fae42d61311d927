"""Prepare a run for a page: a line for each step, with its records."""

from typing import NamedTuple

from toolmd._types.run import JournalEntry, RunEvent, RunKind, RunTrace


class StepLine(NamedTuple):
    """A step of a run, or one turn of a loop, with its state."""

    step: str
    """The key: `2`, `No slots/1[3]`, `2:visit/4`."""
    title: str
    kind: RunKind
    text: str = ""
    entries: tuple[JournalEntry, ...] = ()

    @property
    def at(self) -> str:
        """The time of the last record; empty without records."""
        return self.entries[-1].at if self.entries else ""


def lines(trace: RunTrace) -> tuple[StepLine, ...]:
    """Return the lines in the order in which the steps began."""
    last: dict[str, RunEvent] = {}
    for event in trace.events:
        if event.kind != "progress" or event.step not in last:
            last[event.step] = event
    for question in trace.view.questions:
        step = _step_of(question.key, last) or question.key
        told = last.get(step)
        title = question.step if told is None else told.title
        last[step] = RunEvent.waiting(question)._replace(step=step, title=title)
    kept: dict[str, list[JournalEntry]] = {step: [] for step in last}
    loose: list[JournalEntry] = []
    for entry in trace.view.entries:
        kept.get(_step_of(entry.key, last), loose).append(entry)
    listed = [
        StepLine(step, event.title, event.kind, event.text, tuple(kept[step]))
        for step, event in last.items()
    ]
    return (*listed, *(StepLine(entry.key, "", "done", "", (entry,)) for entry in loose))


def _step_of(key: str, steps: dict[str, RunEvent]) -> str:
    """Return the innermost step that contains a record's key."""
    known = [step for step in steps if key.startswith((f"{step}:", f"{step}["))]
    return max(known, key=len, default="")
