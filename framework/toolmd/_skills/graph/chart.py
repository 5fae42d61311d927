"""A skill as boxes and arrows, with the states of a run; as text for people and for Mermaid."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from toolmd._types.call_spec import seconds
from toolmd._types.run import Question, RunEvent, RunKind, StepState
from toolmd._types.skill import (
    Expression,
    Loop,
    OnError,
    SkillSpec,
    Step,
    Template,
    Use,
    Way,
    folded,
    value_text,
)

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
_SHAPES = {
    "use": ("[", "]"),
    "ask": ("{{", "}}"),
    "choose": ("(", ")"),
    "return": ("([", "])"),
    "stop": ("[[", "]]"),
    "wait": ("[/", "/]"),
    "note": (">", "]"),
}
# Mermaid reads these characters in labels, so they are replaced by its entities.
_ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\n": " "}
_LOOKS: dict[StepState, str] = {
    "running": "stroke:#1d4ed8,stroke-width:3px",
    "waiting": "stroke:#b45309,stroke-width:3px",
    "done": "stroke:#047857,stroke-width:2px",
    "failed": "stroke:#c81e1e,stroke-width:3px",
    "skipped": "stroke-dasharray:4 3",
    "undone": "stroke-dasharray:4 3",
}


class BoxLine(NamedTuple):
    """One key of a step: a word for it, and its text."""

    word: str
    text: str
    code: bool = False
    """Whether the text is a name or an expression."""


class Box(NamedTuple):
    """One step."""

    name: str
    """`s0_2`: the third step of the first section."""
    key: str
    """The step's id, by which runs and their events name it: `3`, `No slots/1`."""
    column: int
    """The section's number."""
    kind: str
    """The key that acts, in small letters; `note` for a step without one."""
    number: str
    title: str
    lines: tuple[BoxLine, ...]


class Arrow(NamedTuple):
    """A path from one step to another; an empty label is the next step."""

    start: str
    end: str
    label: str = ""


class Chart(NamedTuple):
    """A whole skill."""

    title: str
    sections: tuple[str, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def chart_of(spec: SkillSpec) -> Chart:
    """Return the boxes and arrows of a skill, in the file's order."""
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    sections = spec.workflow_sections
    firsts = {folded(s.name): f"s{at}_0" for at, s in enumerate(sections) if s.name and s.steps}
    for column, section in enumerate(sections):
        for row, step in enumerate(section.steps):
            name = f"s{column}_{row}"
            number = step.id.rsplit("/", 1)[-1]
            kind = ["note", *(key.name.lower() for key in step.keys if key.acts)][-1]
            boxes.append(Box(name, step.id, column, kind, number, step.title, _lines(step)))
            if (not step.ends or step.when is not None) and row + 1 < len(section.steps):
                arrows.append(Arrow(name, f"s{column}_{row + 1}", "else" if step.ends else ""))
            for key in step.keys:
                way = _way(key.value(step))
                if way is not None and way.kind == "go" and folded(way.target) in firsts:
                    arrows.append(Arrow(name, firsts[folded(way.target)], key.word))
    names = tuple(section.name or spec.title for section in sections)
    return Chart(spec.title, names, tuple(boxes), tuple(arrows))


def describe(chart: Chart) -> str:
    """Return a description of the chart in words, for screen readers."""
    labels = {box.name: box for box in chart.boxes}
    sentences = []
    for box in chart.boxes:
        does = [f"{line.word} {line.text}" for line in box.lines]
        does += [
            f"{arrow.label}: go to {chart.sections[labels[arrow.end].column]}"
            for arrow in chart.arrows
            if arrow.start == box.name and arrow.label and labels[arrow.end].column != box.column
        ]
        sentences.append(f"{box.key}. {box.title}" + (f" ({'; '.join(does)})" if does else ""))
    return "\n".join(sentences)


def _lines(step: Step) -> tuple[BoxLine, ...]:
    """Return the lines of a step's keys, in the order of a step."""
    lines = [line for key in step.keys if key.word for line in _draw(key.word, key.value(step))]
    if step.message is not None:
        lines.append(BoxLine("say", value_text(step.message)))
    # A step may be its own action: `2. **Stop**: text`.
    return tuple(line for line in lines if line.text and line.text != step.title)


def _draw(word: str, value: Any) -> Iterator[BoxLine]:
    """Yield the lines of a key's value."""
    match value:
        case Expression():
            yield BoxLine(f"{word} until" if word == "wait" else word, value.cel, code=True)
        case Template():
            yield BoxLine(word, value_text(value))
        case Use():
            yield BoxLine(word, value.name, code=True)
        case Loop():
            yield BoxLine(word, f"{value.name} in {value.over.cel}", code=True)
        case OnError():
            if value.retries:
                yield BoxLine(word, f"{value.retries} more tries")
            yield from _draw(word, value.then)
        case Way(kind="stop"):
            yield BoxLine(word, f"stops: {value_text(value.text)}" if value.text else "stops")
        case Way(kind="continue"):
            yield BoxLine(word, "goes on")
        case Way():
            if value.choose is not None:
                yield BoxLine(word, value.choose.cel, code=True)
        case tuple():
            yield BoxLine(word, ", ".join(argument.name for argument in value))
        case float():
            yield BoxLine(word, seconds(value))
        case _:
            yield BoxLine(word, str(value), code=True)


def _way(value: Any) -> Way | None:
    """Return the way of a key that has one."""
    value = value.then if isinstance(value, OnError) else value
    return value if isinstance(value, Way) else None


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


def mermaid(chart: Chart, states: Mapping[str, StepState] | None = None) -> str:
    """Return a `flowchart TD`, one subgraph per section; `states` as for `svg`."""
    known = states or {}
    lines = ["flowchart TD"]
    for column, title in enumerate(chart.sections):
        lines.append(f'  subgraph c{column}["{_escaped(title)}"]')
        lines += [f"    {_box(b, known.get(b.key))}" for b in chart.boxes if b.column == column]
        lines.append("  end")
    for arrow in chart.arrows:
        label = f"|{_escaped(arrow.label)}|" if arrow.label else ""
        lines.append(f"  {arrow.start} -->{label} {arrow.end}")
    for state, look in _LOOKS.items():
        names = [box.name for box in chart.boxes if known.get(box.key) == state]
        if names:
            lines += [f"  classDef {state} {look}", f"  class {','.join(names)} {state}"]
    return "\n".join(lines) + "\n"


def _box(box: Box, state: StepState | None) -> str:
    opening, closing = _SHAPES.get(box.kind, ("[", "]"))
    title = f"{box.number}. {box.title}" + (f" ({WORDS[state]})" if state else "")
    rows = (title, *(f"{line.word} {line.text}" for line in box.lines))
    text = "<br/>".join(_escaped(row) for row in rows)
    return f'{box.name}{opening}"{text}"{closing}'


def _escaped(text: str) -> str:
    return "".join(_ENTITIES.get(letter, letter) for letter in text)
