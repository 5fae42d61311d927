"""Prepare a run for a page: a line for each step, with its records and its place in time."""

import datetime as dt
from typing import NamedTuple

from toolmd._types.run import HAPPENED, JournalEntry, RunEvent, RunKind, RunTrace

WIDTH = 1000
"""The width of a bar that is as long as the whole run."""
LEAST = 6
"""The width of a moment."""
_UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
_OPEN = frozenset(("waiting", "started", "progress"))
_WAITS = (":ask", ":wait", HAPPENED)
"""What the keys of a person's answers and of waits end with."""


class Bar(NamedTuple):
    """A part of a line's time."""

    x: int
    width: int
    waits: bool
    """Whether the run waited, for a person or for a time."""


class StepLine(NamedTuple):
    """A step of a run, or one turn of a loop, with its state."""

    step: str
    """The key: `2`, `No slots/1[3]`, `2:visit/4`."""
    title: str
    kind: RunKind
    text: str = ""
    entries: tuple[JournalEntry, ...] = ()
    bars: tuple[Bar, ...] = ()
    took: str = ""
    """How long it worked and waited, in words; empty for a step without records."""

    @property
    def at(self) -> str:
        """The time of the last record; empty without records."""
        return self.entries[-1].at if self.entries else ""


class Timeline(NamedTuple):
    """The lines of a run, on one axis from its start to its end, or to now."""

    lines: tuple[StepLine, ...]
    took: str
    """How long the run worked and waited so far, in words."""


class _Span(NamedTuple):
    """The time from one record to the next."""

    start: float
    end: float
    waits: bool


def timeline(trace: RunTrace, now: dt.datetime) -> Timeline:
    """Return the lines in the order in which the steps began.

    A record has the time of its end; what it records began with the record before it.

    Args:
        trace: The run.
        now: The time, with its zone, at which the axis of an unfinished run ends.
    """
    view, began = trace.view, _seconds(trace.view.began)
    found = _lines(trace)
    spans: dict[str, list[_Span]] = {line.step: [] for line in found}
    of_key = {entry.key: line.step for line in found for entry in line.entries}
    last = began
    for entry in view.entries:
        end = max(last, _seconds(entry.at))
        spans[of_key[entry.key]].append(_Span(last, end, _waits(entry.key)))
        last = end
    open_ = next((one.step for one in found[::-1] if one.kind in _OPEN), "")
    if view.result is None and open_ and view.state != "scheduled":
        waits = view.state == "waiting"
        spans[open_].append(_Span(last, max(last, now.timestamp()), waits))
    every = [span for some in spans.values() for span in some]
    whole = max((span.end for span in every), default=began) - began
    return Timeline(
        tuple(
            line._replace(
                bars=tuple(_bar(span, began, whole) for span in spans[line.step]),
                took=_took(spans[line.step]),
            )
            for line in found
        ),
        _took(every),
    )


def _lines(trace: RunTrace) -> tuple[StepLine, ...]:
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


def _waits(key: str) -> bool:
    return key.rstrip("0123456789").endswith(_WAITS)


def _bar(span: _Span, began: float, whole: float) -> Bar:
    scale = WIDTH / whole if whole > 0 else 0.0
    width = max(LEAST, round((span.end - span.start) * scale))
    return Bar(min(round((span.start - began) * scale), WIDTH - LEAST), width, span.waits)


def _took(spans: list[_Span]) -> str:
    """Return how long work and waits took: `0.2 s`, or `waited 2 h 5 min`."""
    worked = sum(span.end - span.start for span in spans if not span.waits)
    waited = sum(span.end - span.start for span in spans if span.waits)
    works = any(not span.waits for span in spans)
    told = (_words(worked) if works else "", f"waited {_words(waited)}" if waited else "")
    return ", ".join(filter(None, told))


def _words(seconds: float) -> str:
    if seconds < 10:  # noqa: PLR2004 - below, a tenth of a second is worth reading
        return f"{seconds:.1f} s"
    whole = round(seconds)
    first = next(place for place, (_, size) in enumerate(_UNITS) if whole >= size)
    parts = []
    for unit, size in _UNITS[first : first + 2]:
        number, whole = divmod(whole, size)
        parts += [f"{number} {unit}"] if number else []
    return " ".join(parts)


def _seconds(moment: str) -> float:
    try:
        return dt.datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return 0.0
