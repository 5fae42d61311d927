"""Collect the states of a run's steps from its events."""

from collections.abc import Iterable, Mapping

from toolmd._skills.graph.chart import Arrow, Chart
from toolmd._types.run import Question, RunEvent, RunKind, StepState

WORDS: dict[StepState, str] = {
    "running": "runs",
    "waiting": "waits",
    "done": "done",
    "failed": "failed",
    "skipped": "skipped",
    "undone": "undone",
}
"""The word next to each step: colour alone is not accessible."""
_STATES: dict[RunKind, StepState] = {
    "started": "running",
    "skipped": "skipped",
    "waiting": "waiting",
    "done": "done",
    "failed": "failed",
    "undone": "undone",
}


def states_of(
    skill: str, events: Iterable[RunEvent], questions: Iterable[Question] = ()
) -> dict[str, StepState]:
    """Return the state of each step that the run's own skill has reached, by the step's id.

    A step that uses another skill or loops over a list has one state: its inner events only show
    that it runs or waits. `questions` are the open ones.
    """
    states: dict[str, StepState] = {}
    ended: dict[str, StepState] = {}
    for event in events:
        key = step_id(event.step)
        if event.kind == "kept":
            # The Undo asked or ran; the step itself keeps its state.
            states[key] = ended.get(key, "done")
            continue
        whole = key == event.step and event.skill == skill
        state = _STATES.get(event.kind)
        if state == "waiting":
            states[key] = state
        elif state is None or (not whole and event.kind != "undone"):
            if states.get(key, "waiting") == "waiting":
                states[key] = "running"
        else:
            states[key] = ended[key] = state
    for question in questions:
        states[step_id(question.key)] = "waiting"
    return states


def step_id(key: str) -> str:
    """Return the id of the step of the run's own skill to which a key belongs.

    `2:visit/4:ask` and `2[3]:visit` belong to the step `2`, `No slots/1[3]` to `No slots/1`.
    """
    return key.split(":", 1)[0].split("[", 1)[0]


def taken(chart: Chart, states: Mapping[str, StepState]) -> frozenset[Arrow]:
    """Return the arrows that a run took.

    A path to another section was taken if the run reached the section but not the next step.
    """
    reached: dict[int, int] = {}
    for at, box in enumerate(chart.boxes):
        if box.key in states:
            reached[box.column] = at
    came = {box.name for at, box in enumerate(chart.boxes) if at <= reached.get(box.column, -1)}
    columns = {box.name: box.column for box in chart.boxes}
    along = [arrow for arrow in chart.arrows if columns[arrow.start] == columns[arrow.end]]
    went_on = {arrow.start for arrow in along if arrow.end in came}
    return frozenset(
        arrow
        for arrow in chart.arrows
        if arrow.end in came
        and (arrow.start in came)
        and (arrow in along or arrow.start not in went_on)
    )
